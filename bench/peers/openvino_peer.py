"""OpenVINO: ScaledDotProductAttention of opset 13, in the precision of the arrays."""

import numpy
import openvino
from openvino import opset13

import common

VERSION = openvino.__version__.split("-")[0]
TYPES = {"f32": openvino.Type.f32, "bf16": openvino.Type.bf16, "f16": openvino.Type.f16}


def tensor(array, kind=openvino.Type.f32):
    """On the array's own memory in float32, else a copy."""
    if kind == openvino.Type.f32:
        return openvino.Tensor(array, shared_memory=True)
    bits = numpy.ascontiguousarray(array).view(numpy.uint32)
    halves = array.astype(numpy.float16) if kind == openvino.Type.f16 else ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)
    made = openvino.Tensor(kind, openvino.Shape(array.shape))
    made.data.view(numpy.uint16)[:] = halves.view(numpy.uint16)
    return made


class Model:
    """The operator, compiled for so many threads, its inputs and output bound to memory that stays."""

    def __init__(self, arrays, threads, causal=False, mask=None, kind=openvino.Type.f32):
        """The mask is added to the scores; the operator takes no other with `causal`."""
        self.arrays = arrays = arrays if mask is None else [*arrays, mask]  # tensors on their memory do not keep it
        inputs = [opset13.parameter(x.shape, kind) for x in arrays]
        model = openvino.Model([opset13.scaled_dot_product_attention(*inputs, causal=causal)], inputs)
        compiled = openvino.Core().compile_model(model, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": kind})
        self.request = compiled.create_infer_request()
        for number, array in enumerate(arrays):
            self.request.set_input_tensor(number, tensor(array, kind))
        self.out = openvino.Tensor(compiled.output(0).element_type, openvino.Shape(arrays[0].shape))
        self.request.set_output_tensor(0, self.out)

    def run(self):
        self.request.infer(share_outputs=True)

    def result(self):
        self.run()
        if self.out.element_type == openvino.Type.bf16:
            return (self.out.data.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
        return self.out.data.astype(numpy.float32)


def measure_case(case, threads, rows):
    if case["dtype"] not in TYPES or case["kind"] not in ("forward", "small"):
        return rows.skip("OpenVINO", f"has no {case['kind']} of {case['dtype']} in this operator")
    if case["softcap"] or case["heads"] != case["kv_heads"]:
        return rows.skip("OpenVINO", "has neither softcap nor shared heads in this operator")

    def use():
        mask = common.score_bias(case)[None] if case["bias"] or case["window"] else None
        for count in threads:
            model = Model(common.arrays(case), count, case["causal"] and mask is None, mask, TYPES[case["dtype"]])
            rows.measure("OpenVINO", count, model.run, model.result)
    rows.attempt("OpenVINO", use)


if __name__ == "__main__":
    common.serve({"openvino": VERSION}, measure_case)
