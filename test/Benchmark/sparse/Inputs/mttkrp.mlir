// Multiplies a tensor in fibers by a matrix along two of its dimensions.

#tensor = affine_map<(i, p, j, k) -> (i, p, j)>
#left = affine_map<(i, p, j, k) -> (p, k)>
#right = affine_map<(i, p, j, k) -> (j, k)>
#result = affine_map<(i, p, j, k) -> (i, k)>

func.func @product(%starts: !starts, %row: !row, %ends: !ends, %column: !column, %value: !value,
                   %x: !x, %z: !z, %y: !y) -> !y attributes { llvm.emit_c_interface } {
  %tensor = sparse_tensor.assemble (%starts, %row, %ends, %column), %value
      : (!starts, !row, !ends, !column), !value to !sparse
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%y : !y) -> !y
  %sums = linalg.generic {
      indexing_maps = [#tensor, #left, #right, #result],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"] }
      ins(%tensor, %x, %z : !sparse, !x, !z) outs(%zeros : !y) {
    ^bb0(%a: f32, %b: f32, %c: f32, %before: f32):
      %part = arith.mulf %a, %b : f32
      %product = arith.mulf %part, %c : f32
      %sum = arith.addf %before, %product : f32
      linalg.yield %sum : f32
  } -> !y
  return %sums : !y
}
