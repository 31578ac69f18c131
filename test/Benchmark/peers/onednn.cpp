//===- onednn.cpp - oneDNN's convolution, for the benchmarks --------------===//
//
// Compiled by peers.py where oneDNN's headers are installed. Operands are moved
// to the layouts that oneDNN chooses before anything is timed.
//
//===----------------------------------------------------------------------===//

#include <dnnl.hpp>
#include <omp.h>

namespace {
struct Convolution {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward primitive;
  dnnl::memory input, weights, output;

  dnnl::memory move(const float *data, const dnnl::memory::desc &plain,
                    const dnnl::memory::desc &chosen) {
    dnnl::memory from(plain, engine, const_cast<float *>(data));
    dnnl::memory to(chosen, engine);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }
};

dnnl::memory::format_tag getPlain(size_t rank) {
  switch (rank) {
  case 3:
    return dnnl::memory::format_tag::abc;
  case 4:
    return dnnl::memory::format_tag::abcd;
  case 5:
    return dnnl::memory::format_tag::abcde;
  default:
    return dnnl::memory::format_tag::abcdef;
  }
}
} // namespace

/// Sets the threads of what runs later. Several OpenMP runtimes may be loaded;
/// this reaches the one that oneDNN was bound to.
extern "C" void peer_set_threads(int number) { omp_set_num_threads(number); }

/// Prepares a convolution of `numSpatial` dimensions. `sizes` holds the batch,
/// the channels of input and output, the groups; then, for each dimension, the
/// extents of input, kernel and output, stride, dilation, and low and high pad.
extern "C" void *peer_conv_create(int numSpatial, const int64_t *sizes,
                                  const float *input, const float *weights,
                                  bool relu) {
  try {
    int64_t batch = sizes[0], in = sizes[1], out = sizes[2], groups = sizes[3];
    dnnl::memory::dims x{batch, in}, w{out / groups, in / groups},
        y{batch, out}, stride, dilation, low, high;
    if (groups > 1)
      w.insert(w.begin(), groups);
    for (int d = 0; d < numSpatial; ++d) {
      const int64_t *s = sizes + 4 + 7 * d;
      x.push_back(s[0]);
      w.push_back(s[1]);
      y.push_back(s[2]);
      stride.push_back(s[3]);
      dilation.push_back(s[4] - 1);
      low.push_back(s[5]);
      high.push_back(s[6]);
    }
    auto any = [](const dnnl::memory::dims &dims) {
      return dnnl::memory::desc(dims, dnnl::memory::data_type::f32,
                                dnnl::memory::format_tag::any);
    };
    auto plain = [](const dnnl::memory::dims &dims) {
      return dnnl::memory::desc(dims, dnnl::memory::data_type::f32,
                                getPlain(dims.size()));
    };
    auto *conv = new Convolution;
    dnnl::post_ops ops;
    if (relu)
      ops.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    dnnl::primitive_attr attr;
    attr.set_post_ops(ops);
    dnnl::convolution_forward::primitive_desc description(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference,
                                        dnnl::algorithm::convolution_auto,
                                        any(x), any(w), any(y), stride,
                                        dilation, low, high),
        attr, conv->engine);
    conv->primitive = dnnl::convolution_forward(description);
    conv->input = conv->move(input, plain(x), description.src_desc());
    conv->weights = conv->move(weights, plain(w), description.weights_desc());
    conv->output = dnnl::memory(description.dst_desc(), conv->engine);
    return conv;
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

extern "C" void peer_conv_run(void *handle) {
  auto *conv = static_cast<Convolution *>(handle);
  conv->primitive.execute(conv->stream, {{DNNL_ARG_SRC, conv->input},
                                         {DNNL_ARG_WEIGHTS, conv->weights},
                                         {DNNL_ARG_DST, conv->output}});
  conv->stream.wait();
}
