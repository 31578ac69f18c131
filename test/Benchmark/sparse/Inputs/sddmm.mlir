// Multiplies dense matrices where a third has entries, and weighs the products by these.
// Weights are multiplied at the end: with the third matrix as an operand too, each row
// would be searched for the entries of both. The sum of a place begins with zero, whatever
// was there.

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
#entry = affine_map<(e) -> (e)>

func.func @product(%starts: !starts, %column: !column, %value: !value, %x: !x, %z: !z,
                   %y: !value) -> !value attributes { llvm.emit_c_interface } {
  %places = sparse_tensor.assemble (%starts, %column), %y : (!starts, !column), !value to !sparse
  %zero = arith.constant 0.0 : f32
  %dots = linalg.generic {
      indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"] }
      ins(%x, %z : !x, !z) outs(%places : !sparse) {
    ^bb0(%a: f32, %b: f32, %place: f32):
      %term = sparse_tensor.unary %place : f32 to f32
        present = {
          ^bb0(%before: f32):
            %product = arith.mulf %a, %b : f32
            sparse_tensor.yield %product : f32
        } absent = {}
      %sum = sparse_tensor.reduce %place, %term, %zero : f32 {
        ^bb0(%p: f32, %q: f32):
          %next = arith.addf %p, %q : f32
          sparse_tensor.yield %next : f32
      }
      linalg.yield %sum : f32
  } -> !sparse
  %stored = sparse_tensor.values %dots : !sparse to memref<?xf32>
  %list = bufferization.to_tensor %stored restrict writable : memref<?xf32> to !value
  %weighed = linalg.generic {
      indexing_maps = [#entry, #entry], iterator_types = ["parallel"] }
      ins(%value : !value) outs(%list : !value) {
    ^bb0(%weight: f32, %dot: f32):
      %product = arith.mulf %weight, %dot : f32
      linalg.yield %product : f32
  } -> !value
  return %weighed : !value
}
