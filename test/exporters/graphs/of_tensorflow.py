"""Graphs of TensorFlow and Keras, by tf2onnx and by Keras' own export."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
import tf2onnx
from keras import layers

from .registry import GRAPHS, save

keras.utils.set_random_seed(0)


def named(model):
    """Open dimensions by input and axis: the converter numbers them by what it did before."""
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                dim.dim_param = f"{value.name}_{axis}"
    return model


def converted(name, function, *specs, opset=17):
    """Of a function of tensors, by tf2onnx."""

    def write(path):
        call = tf.function(function(), input_signature=specs)
        save(named(tf2onnx.convert.from_function(call, input_signature=specs, opset=opset)[0]), path)

    GRAPHS[f"tensorflow-{name}"] = write


def keras_graph(name, make, dims, own=False):
    """Of a Keras model: by tf2onnx, or by its own export to ONNX."""

    def write(path):
        model = make()
        if own:
            model(tf.zeros((1, *dims)))  # It exports models that were called only.
            model.export(path, format="onnx", verbose=False)
            return
        spec = tf.TensorSpec((None, *dims), tf.float32, name="x")
        call = tf.function(lambda x: model(x, training=False), input_signature=[spec])
        save(named(tf2onnx.convert.from_function(call, input_signature=[spec], opset=17)[0]), path)

    GRAPHS[f"keras-{name}{'-own' if own else ''}"] = write


PICTURE = (160, 160, 3)
for name in ["MobileNetV2", "ResNet50", "EfficientNetB0", "DenseNet121", "NASNetMobile"]:
    keras_graph(name.lower(), lambda name=name: getattr(keras.applications, name)(weights=None, input_shape=PICTURE), PICTURE)
keras_graph("mobilenetv2", lambda: keras.applications.MobileNetV2(weights=None, input_shape=PICTURE), PICTURE, own=True)


def of_layers(dims, *all_layers):
    return lambda: keras.Sequential([layers.Input(dims), *all_layers])


keras_graph("lstm", of_layers((40, 32), layers.LSTM(64, return_sequences=True), layers.Dense(10)), (40, 32))
keras_graph("gru", of_layers((40, 32), layers.GRU(64), layers.Dense(10)), (40, 32))
keras_graph("convlstm", of_layers((5, 16, 16, 3), layers.ConvLSTM2D(8, 3)), (5, 16, 16, 3))
keras_graph("unet", of_layers((64, 64, 3), layers.Conv2D(16, 3, 2, "same"), layers.Conv2DTranspose(8, 3, 2, "same"), layers.UpSampling2D(2, interpolation="bilinear")), (64, 64, 3))


def attention():
    x = layers.Input((32, 64))
    y = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
    return keras.Model(x, layers.Dense(64, "relu")(y))


keras_graph("attention", attention, (32, 64))
keras_graph("attention", attention, (32, 64), own=True)


def while_loop():
    w = tf.random.normal((64, 64))
    return lambda x: tf.while_loop(lambda i, _: i < 5, lambda i, v: (i + 1, tf.tanh(v @ w)), (tf.constant(0), x))[1]


converted("while", while_loop, tf.TensorSpec((8, 64), tf.float32, name="x"))
converted(
    "cond",
    lambda: lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x) * 2, lambda: tf.nn.softmax(x)),
    tf.TensorSpec((8, 64), tf.float32, name="x"),
)
converted(
    "resize",
    lambda: lambda x: tf.image.resize(x, (64, 64), method="bilinear"),
    tf.TensorSpec((None, 32, 32, 3), tf.float32, name="x"),
)
converted(
    "ragged-shapes",
    lambda: lambda x: tf.reshape(tf.transpose(x, (0, 2, 1)), (tf.shape(x)[0], -1, 8)),
    tf.TensorSpec((None, None, 16), tf.float32, name="x"),
)
converted(
    "lookup",
    lambda: lambda ids: tf.nn.embedding_lookup(tf.random.normal((1000, 32)), tf.clip_by_value(ids, 0, 999)),
    tf.TensorSpec((None, 20), tf.int32, name="ids"),
)
