# Images of the service, one target a process:
#   api           HTTP                                        CPU, without torch
#   worker-cpu    workflows, downloads, bookkeeping           CPU, without torch
#   worker-warp   segmentation and the engine warp            CPU, without torch
#   worker-gpu    segmentation and the generative engines     torch with CUDA
#   tools         the `tryon` command: migrations, accounts   CPU, without torch (also in every other image)
#
# docker build --target worker-warp --tag tryon/worker-warp:0.5.0 .

ARG PYTHON=docker.io/library/python:3.11.16-slim-bookworm

# What every stage begins with. Nothing here or in a later stage compiles: only wheels are installed.
FROM ${PYTHON} AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore

# Dependencies, in an environment that has no pip of its own. They change seldom, so they are layers below the code.
FROM base AS builder
WORKDIR /build
COPY pyproject.toml constraints.txt ./
COPY deployment/dependencies.py deployment/
RUN python -m pip install -c constraints.txt --upgrade pip setuptools && python -m venv --without-pip /opt/venv

FROM builder AS service-dependencies
RUN python deployment/dependencies.py service > requirements.txt \
    && python -m pip --python /opt/venv/bin/python install --only-binary=:all: -c constraints.txt -r requirements.txt

FROM builder AS warp-dependencies
RUN python deployment/dependencies.py warp > requirements.txt \
    && python -m pip --python /opt/venv/bin/python install --only-binary=:all: -c constraints.txt -r requirements.txt

# PyPI's torch for Linux brings CUDA's libraries along; of the host it needs the driver alone.
FROM builder AS gpu-dependencies
RUN python deployment/dependencies.py gpu > requirements.txt \
    && python -m pip --python /opt/venv/bin/python install --only-binary=:all: -c constraints.txt -r requirements.txt

# The files that find people, out of MediaPipe's wheel, each against its SHA-256. `engines.models` needs Python alone.
FROM builder AS models
COPY engines/__init__.py engines/models.py engines/
RUN python -c "from pathlib import Path; from engines.models import fetch_models; fetch_models(Path('/models'), print)" \
    && chmod -R a+rX /models

# The service's own files, with what Python would know of them if they had been installed: the version stands there. They
# are compiled once, since the containers' file systems are read-only, and readable by the user that the containers run as,
# whatever umask they were checked out under.
FROM builder AS source
WORKDIR /srv/tryon
COPY . .
RUN python -c "from setuptools import setup; setup()" --quiet dist_info \
    && rm -rf pyproject.toml constraints.txt README.md deployment/dependencies.py && python -m compileall -q . \
    && chmod -R a+rX .

# What every final image has in common.
FROM base AS final
RUN groupadd --gid 10001 tryon && useradd --uid 10001 --gid tryon --no-create-home --home-dir /tmp tryon \
    && install -d -o tryon -g tryon /var/lib/tryon /var/lib/tryon/weights
# 11 MB that `tryon doctor` looks for wherever it runs
COPY --from=models /models /opt/models
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/srv/tryon \
    TRYON_DATA_DIR=/var/lib/tryon \
    TRYON_MODELS_DIR=/opt/models \
    TRYON_WEIGHTS_DIR=/var/lib/tryon/weights
WORKDIR /srv/tryon

FROM final AS service
COPY --from=service-dependencies /opt/venv /opt/venv
COPY --from=source /srv/tryon /srv/tryon
RUN ln -s /srv/tryon/deployment/tryon /usr/local/bin/tryon
USER 10001:10001

FROM service AS tools
CMD ["tryon", "--help"]

FROM service AS api
ENV TRYON_API_HOST=0.0.0.0 \
    TRYON_API_PORT=8000 \
    TRYON_METRICS_API_ADDRESS=0.0.0.0:9464
EXPOSE 8000 9464
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
    CMD ["python", "-S", "deployment/healthcheck.py", "127.0.0.1:8000/healthz"]
CMD ["python", "-m", "api.main"]

FROM service AS worker-cpu
ENV TRYON_METRICS_WORKER_CPU_ADDRESS=0.0.0.0:9465
EXPOSE 9465
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python", "-S", "deployment/healthcheck.py", "127.0.0.1:9465/metrics", "temporal_num_pollers"]
CMD ["python", "-m", "worker_cpu.main"]

FROM final AS worker-warp
COPY --from=warp-dependencies /opt/venv /opt/venv
COPY --from=source /srv/tryon /srv/tryon
RUN ln -s /srv/tryon/deployment/tryon /usr/local/bin/tryon
USER 10001:10001
ENV TRYON_ENGINE=warp \
    TRYON_METRICS_WORKER_GPU_ADDRESS=0.0.0.0:9466
EXPOSE 9466
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
    CMD ["python", "-S", "deployment/healthcheck.py", "127.0.0.1:9466/metrics", \
         "temporal_num_pollers", "temporal_worker_task_slots_used"]
CMD ["python", "-m", "worker_gpu.main"]

# Loading the weights and the first drawing come before the first poll, so it may take minutes to be healthy.
FROM final AS worker-gpu
COPY --from=gpu-dependencies /opt/venv /opt/venv
COPY --from=source /srv/tryon /srv/tryon
RUN ln -s /srv/tryon/deployment/tryon /usr/local/bin/tryon
USER 10001:10001
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    HF_HOME=/var/lib/tryon/weights/.hub \
    TRYON_ENGINE=auto \
    TRYON_DEVICE=cuda \
    TRYON_METRICS_WORKER_GPU_ADDRESS=0.0.0.0:9466
EXPOSE 9466
HEALTHCHECK --interval=15s --timeout=5s --start-period=900s \
    CMD ["python", "-S", "deployment/healthcheck.py", "127.0.0.1:9466/metrics", \
         "temporal_num_pollers", "temporal_worker_task_slots_used"]
CMD ["python", "-m", "worker_gpu.main"]
