// Multiplies a matrix in rows by a vector.

#matrix = affine_map<(i, j) -> (i, j)>
#vector = affine_map<(i, j) -> (j)>
#result = affine_map<(i, j) -> (i)>

func.func @product(%starts: !starts, %column: !column, %value: !value, %x: !x, %y: !y)
    -> !y attributes { llvm.emit_c_interface } {
  %matrix = sparse_tensor.assemble (%starts, %column), %value : (!starts, !column), !value to !sparse
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%y : !y) -> !y
  %sums = linalg.generic {
      indexing_maps = [#matrix, #vector, #result], iterator_types = ["parallel", "reduction"] }
      ins(%matrix, %x : !sparse, !x) outs(%zeros : !y) {
    ^bb0(%a: f32, %b: f32, %before: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %before, %product : f32
      linalg.yield %sum : f32
  } -> !y
  return %sums : !y
}
