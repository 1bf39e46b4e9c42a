// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce.h"
#include "sextant/pose/align/math.h"

namespace sextant::detail::alignment {

namespace {

PoseEquations<double> unpacked(const EquationSums& sums) {
  PoseEquations<double> equations;
  for (int i = 0; i < 21; ++i) equations.hessian.packed[i] = sums.number[i];
  for (int i = 0; i < 6; ++i) equations.gradient[i] = sums.number[21 + i];
  equations.squares = sums.number[27];
  equations.weight = sums.number[28];
  equations.count = sums.number[29];
  return equations;
}

}  // namespace

// Sums are floats: in doubles a block's share of them would not fit into shared memory. The tree is
// flat enough for 1e-6 of the sums, a thousandth of what noise leaves open.
PoseEquations<double> run_pass_cuda(const Context& context, const Pass& pass,
                                    Workspace& workspace) {
  for_each(context, pass.count, AssociateOne{pass});
  const Workspace::Scope scope(workspace);
  const View<EquationSums> sum = workspace.take<EquationSums>(context, 1);
  transform_reduce(context, pass.count, EquationOf{pass}, Add{}, EquationSums{}, sum, workspace);
  return unpacked(to_host(context, sum)[0]);
}

}  // namespace sextant::detail::alignment
