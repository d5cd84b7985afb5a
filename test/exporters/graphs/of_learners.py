"""Graphs of classical models by skl2onnx and onnxmltools."""

import numpy

from .registry import GRAPHS, save

X = numpy.random.default_rng(0).random((300, 20)).astype("float32")
CLASSES = (X[:, 0] > 0.5).astype("int64")


def scikit(name, make, target, **options):
    def write(path):
        from skl2onnx import to_onnx

        model = make().fit(X, target)
        without_map = {"options": {id(model): {"zipmap": False}}} if options.get("classifies") else {}
        save(to_onnx(model, X[:1], **without_map), path)

    GRAPHS[f"scikit-learn-{name}"] = write


def pipeline():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression())


def forest():
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(50, max_depth=8)


def boosting():
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=20)


def vectors():
    from sklearn.svm import SVC

    return SVC(probability=True)


def neighbours():
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor()


def components():
    from sklearn.decomposition import PCA

    return PCA(5)


def perceptron():
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(hidden_layer_sizes=(64, 32), max_iter=5)


scikit("pipeline", pipeline, CLASSES)
scikit("forest", forest, X[:, 0])
scikit("boosting", boosting, CLASSES, classifies=True)
scikit("svm", vectors, CLASSES, classifies=True)
scikit("neighbours", neighbours, X[:, 0])
scikit("pca", components, CLASSES)
scikit("mlp", perceptron, X[:, 0])


def texts(path):
    """Words in, numbers out."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import StringTensorType
    from sklearn.preprocessing import OneHotEncoder

    model = OneHotEncoder(handle_unknown="ignore").fit(numpy.array([["red", "big"], ["blue", "small"]]))
    save(to_onnx(model, initial_types=[("words", StringTensorType([None, 2]))]), path)


GRAPHS["scikit-learn-texts"] = texts


def lightgbm(path, kind, target):
    import lightgbm
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    model = getattr(lightgbm, kind)(n_estimators=20, verbose=-1).fit(X, target)
    save(convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, 20]))]), path)


GRAPHS["lightgbm-regressor"] = lambda path: lightgbm(path, "LGBMRegressor", X[:, 0])
GRAPHS["lightgbm-classifier"] = lambda path: lightgbm(path, "LGBMClassifier", CLASSES)
