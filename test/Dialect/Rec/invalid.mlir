// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// NodeType
// expected-error @below {{expects a sequence of arity 1, but got 2}}
func.func private @f(!rec.node<sequence, arity = 2>)

// -----

// NodeType: no wrapping around
// expected-error @below {{expects an arity of 31 bits, but got 4294967295}}
func.func private @f(!rec.node<tree, arity = -1>)

// -----

// ModelOp C1
// expected-error @below {{expects a node as its first argument}}
rec.model private @m(%x: tensor<?x4xf32>) -> tensor<4xf32> {
}

// -----

// ModelOp C1: the others are tensors
// expected-error @below {{expects ranked tensors after the node, but argument #1 is 'f32'}}
rec.model private @m(%n: !rec.node<dag>, %x: f32) -> tensor<4xf32> {
}

// -----

// ModelOp C2
// expected-error @below {{expects a result, but got '(!rec.node<dag>) -> ()'}}
rec.model private @m(%n: !rec.node<dag>) {
}

// -----

// ModelOp C2: extents are known
// expected-error @below {{expects results of known extents, but result #0 is 'tensor<?xf32>'}}
rec.model private @m(%n: !rec.node<dag>) -> tensor<?xf32> {
}

// -----

// ModelOp C3
// expected-error @below {{expects one case for leaves and one for interior nodes, but got 1 and 0}}
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// ModelOp C3: nothing else
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects to be in a case of '@m'}}
  %c = arith.constant dense<1.0> : tensor<4xf32>
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// ModelOp C4
// expected-error @below {{expects to be private, but got a public model}}
rec.model @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// CaseOp C1
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  // expected-error @below {{expects a cell that ends in 'rec.yield'}}
  rec.case interior {
    llvm.unreachable
  }
}

// -----

// CaseOp C2: control flow cannot depend on a tensor
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects to be outside of a cell, which is made of operators on tensors}}
    %b = tensor.empty() : tensor<4xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// CaseOp C2: several values
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects one value for all elements in a cell, but got several}}
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// CaseOp C2: sizes that are computed
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects to be outside of a cell, which is made of operators on tensors}}
    %i = arith.constant 4 : index
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// CaseOp C2: a recurrence
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>, %a: tensor<5x2x3xf32>, %w: tensor<12x3xf32>,
    %r: tensor<12x4xf32>, %b: tensor<24xf32>, %h0: tensor<2x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects to be outside of a cell, as it is a recurrence itself}}
    %y, %h = graph.gru %a, %w, %r, %b, %h0
        : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf32>, tensor<2x4xf32>)
        -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// YieldOp C1
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    // expected-error @below {{expects the results of the model, of types 'tensor<4xf32>', but got }}
    rec.yield
  }
}

// -----

// CaseOp C1: arguments
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a cell without arguments, but got 1}}
  rec.case leaf {
  ^bb0(%z: tensor<4xf32>):
    rec.yield %z : tensor<4xf32>
  }
  rec.case interior {
    %h = rec.call %n child 0 : !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// -----

// CaseOp C2: another application
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    %a = arith.constant dense<0> : tensor<1xi32>
    %c = arith.constant dense<0> : tensor<1x2xi32>
    // expected-error @below {{expects to be outside of a cell, which is made of operators on tensors}}
    %q = rec.apply @m at roots of [%a, %c, %a, %a](%x)
        : [tensor<1xi32>, tensor<1x2xi32>, tensor<1xi32>, tensor<1xi32>] (tensor<?x4xf32>) -> tensor<1x4xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// CaseOp C2: constants whose values are elsewhere
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects one value for all elements in a cell}}
    %c = arith.constant dense_resource<foo> : tensor<1xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}

{-# dialect_resources: { builtin: { foo: "0x040000000000803F" } } #-}

// -----

// CaseOp C2: numbers of other kinds
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects numbers that operators work on, but got 'i128'}}
    %c = arith.constant dense<1> : tensor<4xi128>
    rec.yield %x0 : tensor<4xf32>
  }
}

// -----

// CaseOp C3
rec.model private @m(%n: !rec.node<tree, arity = 2>, %x: tensor<?x4xf32>, %w: tensor<?xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %x0 = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<tree, arity = 2> -> tensor<4xf32>
    // expected-error @below {{expects result #0 of type 'tensor<?xf32>' in a cell, but got 'tensor<64xf32>'}}
    %r = graph.relu %w : (tensor<?xf32>) -> tensor<64xf32>
    rec.yield %x0 : tensor<4xf32>
  }
}
