// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/voting/math.h"

namespace sextant::detail::voting {

/// Fills the job's tensors and numbers of votes on the host, sixteen voters at a time.
void cast_votes_cpu(const Context& context, const VotingJob& job, VoteDecay decay,
                    VoterSearch search);

}  // namespace sextant::detail::voting
