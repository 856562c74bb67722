FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/talaria
# The lock alone first, so that a change of the source does not install everything again.
COPY requirements.lock /src/
# pip compiles to bytecode as it installs; the final stage's file system is read-only.
RUN /opt/talaria/bin/pip install --require-hashes -r /src/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY gateway /src/gateway
COPY agent_core /src/agent_core
COPY adapters /src/adapters
COPY skills_bundled /src/skills_bundled
RUN /opt/talaria/bin/pip install --no-deps --no-build-isolation /src

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin talaria \
    && install --directory --owner=talaria --group=talaria --mode=0700 /data
COPY --from=build /opt/talaria /opt/talaria
ENV PATH=/opt/talaria/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    TALARIA_HOME=/data
USER talaria
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["talaria", "check", "--live"]
ENTRYPOINT ["tini", "--", "talaria"]
CMD ["run"]
