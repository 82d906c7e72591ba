"""Loading a causal language model for the local forecaster: a folder, a GGUF file or a hub name."""

import hashlib
import json
import shutil
import tempfile
import warnings
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from surrogate.fetch import converted_folder
from surrogate.forecasters import attention
from surrogate.forecasters.int8 import quantise

#: Bytes hashed at each end of a weights file: enough to tell two files apart, quick for any size.
_HASHED_END = 1 << 20

transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]


class WeightsError(Exception):
    """The weights cannot be used; the message says which and why in one sentence."""


@dataclass(frozen=True)
class LocalConfig:
    """``model`` is a folder in the layout of transformers, a ``.gguf`` file, or a name on the hub."""

    model: str
    adapter: str = ""  # folder of a LoRA adapter, which needs the package peft
    device: str = "auto"  # "auto", "cpu" or "cuda"
    int8: bool = True  # on the CPU only
    quick_attention: bool = True  # on the CPU, where the model's kind allows
    max_prompt_tokens: int = 4096
    batch_tokens: int = 4096  # most padded tokens computed at once


@dataclass
class Loaded:
    """``model`` computes what is asked, ``precise`` what is computed once for all; on a GPU they are one."""

    tokenizer: Any
    model: Any
    precise: Any
    device: torch.device
    digest: str
    context: int  # most tokens the model takes


def load(config: LocalConfig) -> Loaded:
    """Tokenizer and model, ready to compute. Raises WeightsError."""
    source = Path(config.model).expanduser()
    if source.suffix == ".gguf":
        source = converted(source)
    elif source.is_dir():
        if not (source / "config.json").is_file():
            raise WeightsError(f"{source} holds no config.json, so it is no model")
    elif config.model.startswith(("/", ".", "~")):
        raise WeightsError(f"there is no model at {source}")
    else:
        source = Path(config.model)  # a hub name
    device = _device(config.device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(source))
        model: Any = AutoModelForCausalLM.from_pretrained(str(source), dtype=dtype)
    except (OSError, ValueError, KeyError) as error:
        raise WeightsError(f"the model {config.model!r} cannot be loaded: {_first_line(error)}") from error
    if config.adapter:
        model = _with_adapter(model, config.adapter)
    model = model.to(device).eval()
    model.requires_grad_(False)
    if config.quick_attention and attention.fits(model.config, device, dtype):
        model.set_attn_implementation(attention.NAME)
    quick = quantise(model) if config.int8 and device.type == "cpu" else model
    return Loaded(
        tokenizer,
        quick,
        model,
        device,
        _digest(config, source, device),
        int(getattr(model.config, "max_position_embeddings", config.max_prompt_tokens)),
    )


def converted(gguf: Path) -> Path:
    """The folder beside ``gguf`` with its weights in a form that loads quickly, made when missing.

    Dequantising takes most of a minute on a small machine, so it is done once. Raises WeightsError.
    """
    target = converted_folder(gguf)
    if (target / "config.json").is_file():
        return target
    if not gguf.is_file():
        raise WeightsError(f"there is no file {gguf}")
    work = Path(tempfile.mkdtemp(prefix=".convert-", dir=gguf.parent))
    try:
        # Both take the file's name apart from its folder.
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
        with redirect_stderr(StringIO()):  # its progress bar cannot be turned off
            model: Any = AutoModelForCausalLM.from_pretrained(
                str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
            )
        # The weights are plain floats by now; transformers still thinks of them as GGUF and would not save.
        model.is_quantized, model.hf_quantizer = False, None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.to(torch.float16).save_pretrained(work)
        tokenizer.save_pretrained(work)
        work.chmod(0o755)  # temporary folders are private, this one is as public as the file beside it
        work.replace(target)
    except (OSError, ValueError, ImportError, KeyError) as error:
        if (target / "config.json").is_file():
            return target  # another process was quicker
        raise WeightsError(f"{gguf} cannot be converted: {_first_line(error)}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _with_adapter(model: Any, adapter: str) -> Any:
    try:
        from peft import PeftModel
    except ImportError:
        raise WeightsError("a LoRA adapter is configured, but the package peft is not installed") from None
    try:
        return PeftModel.from_pretrained(model, adapter).merge_and_unload()
    except (OSError, ValueError, RuntimeError) as error:
        raise WeightsError(f"the adapter {adapter!r} cannot be loaded: {_first_line(error)}") from error


def _device(word: str) -> torch.device:
    if word == "auto":
        # Asking for CUDA on a machine without a driver warns; that there is none is not worth a line.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(word)


def _digest(config: LocalConfig, source: Path, device: torch.device) -> str:
    """Tells apart what would answer differently: weights, adapter and arithmetic. 10 hex digits."""
    found = hashlib.sha256(
        json.dumps([source.name, config.int8, config.max_prompt_tokens, device.type]).encode()
    )
    for folder in (source, Path(config.adapter) if config.adapter else None):
        if folder is None or not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if path.suffix in (".safetensors", ".bin", ".json"):
                with path.open("rb") as file:
                    found.update(file.read(_HASHED_END))
                    file.seek(max(0, path.stat().st_size - _HASHED_END))
                    found.update(file.read())
    return found.hexdigest()[:10]


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
