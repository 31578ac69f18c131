"""Recursive models of the literature, as functions of a node.

Vectors are rows: `x @ W` is W^T x in the equations' usual form. Words index `emb`.
"""

from espalier.recursion import Node, Tensor, concat, recursive, relu, sigmoid, split, tanh

States = tuple[Tensor, Tensor]


@recursive("tree", arity=2)
def tree_fc(node: Node, emb: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Apply one dense layer to both children: h = relu([hl, hr] w + b)."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return relu(concat(tree_fc(left), tree_fc(right)) @ w + b)


@recursive("tree", arity=2)
def tree_fc_split(node: Node, emb: Tensor, wl: Tensor, wr: Tensor, b: Tensor) -> Tensor:
    """Apply a dense layer to each child: h = relu(hl wl + hr wr + b)."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return relu(tree_fc_split(left) @ wl + tree_fc_split(right) @ wr + b)


@recursive("tree", arity=2)
def tree_rnn(node: Node, emb: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Combine children by h = tanh([hl, hr] w + b)."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    return tanh(concat(tree_rnn(left), tree_rnn(right)) @ w + b)


@recursive("tree", arity=2)
def tree_gru(node: Node, emb: Tensor, u: Tensor, b: Tensor, un: Tensor, bn: Tensor) -> Tensor:
    """Gate the sum s = hl + hr of both children.

    [r, z] = sigmoid(s u + b), n = tanh((r * s) un + bn), h = (1 - z) * n + z * s.
    """
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    s = tree_gru(left) + tree_gru(right)
    r, z = split(sigmoid(s @ u + b), 2)
    n = tanh((r * s) @ un + bn)
    return (1 - z) * n + z * s


@recursive("tree", arity=2)
def simple_tree_gru(
    node: Node, emb: Tensor, u: Tensor, b: Tensor, un: Tensor, bn: Tensor
) -> Tensor:
    """Do as `tree_gru`, without the state's own part: h = (1 - z) * n."""
    if node.is_leaf:
        return emb[node.word]
    left, right = node.children
    s = simple_tree_gru(left) + simple_tree_gru(right)
    r, z = split(sigmoid(s @ u + b), 2)
    return (1 - z) * tanh((r * s) @ un + bn)


@recursive("tree")
def tree_lstm(
    node: Node, emb: Tensor, w: Tensor, u: Tensor, b: Tensor, wf: Tensor, uf: Tensor, bf: Tensor
) -> States:
    """Child-sum TreeLSTM (Tai and others, 2015), any number of children k.

    x = emb[word], f_k = sigmoid(x wf + h_k uf + bf),
    [i, o, u] = x w + (sum_k h_k) u + b,
    c = sigmoid(i) * tanh(u) + sum_k f_k * c_k, h = sigmoid(o) * tanh(c).
    """
    x = emb[node.word]
    gates = x @ w + b
    if not node.is_leaf:
        xf = x @ wf + bf
        h_sum, fc = node.sum(lambda h, c: (h, sigmoid(xf + h @ uf) * c))
        gates = gates + h_sum @ u
    i, o, u_gate = split(gates, 3)
    c = sigmoid(i) * tanh(u_gate)
    if not node.is_leaf:
        c = c + fc
    return sigmoid(o) * tanh(c), c


@recursive("tree", arity=2)
def binary_tree_lstm(node: Node, emb: Tensor, u: Tensor, b: Tensor) -> States:
    """Binary TreeLSTM (Tai and others, 2015): a forget gate for each child.

    [i, o, u, fl, fr] = [hl, hr] u + b,
    c = sigmoid(i) * tanh(u) + sigmoid(fl) * cl + sigmoid(fr) * cr,
    h = sigmoid(o) * tanh(c); a leaf has h = emb[word] and c = 0.
    """
    if node.is_leaf:
        return emb[node.word], node.zeros(emb.shape[1])
    (hl, cl), (hr, cr) = map(binary_tree_lstm, node.children)
    i, o, g, fl, fr = split(concat(hl, hr) @ u + b, 5)
    c = sigmoid(i) * tanh(g) + sigmoid(fl) * cl + sigmoid(fr) * cr
    return sigmoid(o) * tanh(c), c


@recursive("tree", arity=2)
def mv_rnn(
    node: Node, emb: Tensor, mats: Tensor, u: Tensor, b: Tensor, um: Tensor, bm: Tensor
) -> States:
    """MV-RNN (Socher and others, 2012): a vector h and a matrix M for each node.

    h = tanh([Mr hl, Ml hr] u + b), M = um [Ml; Mr] + bm.
    """
    if node.is_leaf:
        return emb[node.word], mats[node.word]
    (hl, ml), (hr, mr) = map(mv_rnn, node.children)
    return tanh(concat(mr @ hl, ml @ hr) @ u + b), um @ concat(ml, mr) + bm


@recursive("dag")
def dag_rnn(node: Node, emb: Tensor, u: Tensor, b: Tensor) -> Tensor:
    """DAG-RNN (Shuai and others, 2015): h = tanh(emb[word] + (sum_k h_k) u + b)."""
    x = emb[node.word] + b
    if node.is_leaf:
        return tanh(x)
    return tanh(x + node.sum(lambda h: h) @ u)


@recursive("sequence")
def lstm(node: Node, emb: Tensor, w: Tensor, u: Tensor, b: Tensor) -> States:
    """Long short-term memory; the first word has the zero state before it.

    [i, f, g, o] = emb[word] w + h u + b,
    c' = sigmoid(f) * c + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(c').
    """
    gates = emb[node.word] @ w + b
    if node.is_leaf:
        i, _, g, o = split(gates, 4)
        c = sigmoid(i) * tanh(g)
    else:
        h, c = lstm(node.children[0])
        i, f, g, o = split(gates + h @ u, 4)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


@recursive("sequence")
def gru(node: Node, emb: Tensor, w: Tensor, u: Tensor, b: Tensor, un: Tensor) -> Tensor:
    """Gated recurrent unit, the reset gate after the product.

    [r, z, n] = emb[word] w + b, r = sigmoid(r + h u_r), z = sigmoid(z + h u_z),
    n = tanh(n + r * (h un)), h' = (1 - z) * n + z * h; h = 0 before the first word.
    """
    x = emb[node.word] @ w + b
    size = x.shape[0] // 3
    if node.is_leaf:
        _, z, n = split(x, 3)
        return (1 - sigmoid(z)) * tanh(n)
    h = gru(node.children[0])
    r, z = split(sigmoid(x[: 2 * size] + h @ u), 2)
    n = tanh(x[2 * size :] + r * (h @ un))
    return (1 - z) * n + z * h
