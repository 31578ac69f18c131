// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// FeatureOp C1
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects an argument of the model}}
    %y = rec.feature %x0 at %n : tensor<4xf32>, !rec.node<tree, arity = 2> -> tensor<f32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// FeatureOp C2
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects a row of type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
    %y = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<5xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// FeatureOp C2: a row
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects a tensor with a row for each node, but got 'tensor<f32>'}}
    %y = rec.feature %s at %n : tensor<f32>, !rec.node<tree, arity = 2> -> tensor<f32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// CallOp C1
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    // expected-error @below {{expects to be in the case of interior nodes}}
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// CallOp C2
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    // expected-error @below {{expects a child that each interior node has, but got 2 of '!rec.node<tree, arity = 2>'}}
    %h = rec.call %n child 2 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// CallOp C3: results are used whole
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects the results of the model, of types 'tensor<4xf32>', but got 'tensor<2xf32>'}}
    %y = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<2xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// ChildrenOp C1
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects to be in the case of interior nodes}}
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      rec.yield %k : tensor<4xf32>
    } : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// ChildrenOp C2
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects arguments of the body, of types 'tensor<4xf32>', but got 'tensor<3xf32>'}}
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<3xf32>):
      rec.yield %x0 : tensor<4xf32>
    } : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// ChildrenOp C3
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects a body that yields 2 values of types 'tensor<4xf32>'}}
    %s = rec.children %n reduce [add, max] {
    ^bb0(%k: tensor<4xf32>):
      rec.yield %k : tensor<4xf32>
    } : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// ChildrenOp C4
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects floating-point numbers to be combined, but got 'tensor<4xi32>'}}
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      %i = graph.cast %k {to = i32} : (tensor<4xf32>) -> tensor<4xi32>
      rec.yield %i : tensor<4xi32>
    } : !rec.node<tree, arity = 2> -> tensor<4xi32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// ApplyOp C1
func.func @f(%a: tensor<?xi32>, %c: tensor<?x2xi32>, %l: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x4xf32>) {
  // expected-error @below {{expects a model, but got @other}}
  %h = rec.apply @other at nodes of [%a, %c, %l, %r](%x)
      : [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// ApplyOp C2
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}
func.func @f(%a: tensor<?xi32>, %c: tensor<?x2xi32>, %l: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x5xf32>) {
  // expected-error @below {{expects arguments of types 'tensor<?x4xf32>', but got 'tensor<?x5xf32>'}}
  %h = rec.apply @m at nodes of [%a, %c, %l, %r](%x)
      : [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?x5xf32>) -> tensor<?x4xf32>
  return
}

// -----

// ApplyOp C3
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}
func.func @f(%a: tensor<?xi32>, %c: tensor<?x3xi32>, %l: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x4xf32>) {
  // expected-error @below {{expects children of type tensor<?x2xi32>, but got 'tensor<?x3xi32>'}}
  %h = rec.apply @m at nodes of [%a, %c, %l, %r](%x)
      : [tensor<?xi32>, tensor<?x3xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// ApplyOp C4
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}
func.func @f(%a: tensor<?xi64>, %c: tensor<?x2xi32>, %l: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x4xf32>) {
  // expected-error @below {{expects a vector of i32 as 'arity', but got 'tensor<?xi64>'}}
  %h = rec.apply @m at nodes of [%a, %c, %l, %r](%x)
      : [tensor<?xi64>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// ChildrenOp C3: known extents
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>, %w: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects results of known extents, but got 'tensor<?x4xf32>'}}
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      %p = graph.add %k, %w : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      rec.yield %p : tensor<?x4xf32>
    } : !rec.node<tree, arity = 2> -> tensor<?x4xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// FeatureOp: numbers of other kinds
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  rec.case leaf {
    // expected-error @below {{operand #0 must be ranked tensor of}}
    %h = rec.feature %x at %n : tensor<?x4xcomplex<f32>>, !rec.node<tree, arity = 2> -> tensor<4xcomplex<f32>>
    rec.yield %h : tensor<4xcomplex<f32>>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xcomplex<f32>>
    rec.yield %h : tensor<4xcomplex<f32>>
  }
}

// -----

// ApplyOp C4: signless numbers
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}
func.func @f(%a: tensor<?xui32>, %c: tensor<?x2xi32>, %l: tensor<?xi32>, %r: tensor<?xi32>, %x: tensor<?x4xf32>) {
  // expected-error @below {{expects a vector of i32 as 'arity', but got 'tensor<?xui32>'}}
  %h = rec.apply @m at nodes of [%a, %c, %l, %r](%x)
      : [tensor<?xui32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
