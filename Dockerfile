FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements.lock /src/
# Packages first: a change of the source then reuses this layer. A third of them never runs here: their
# tests, their C sources, debug symbols, names of languages (babel, of which a web page needs none),
# fast paths for editing fonts, fonts and pictures that no chart has, and lists of their parts.
# Without that, the image is 110 MB larger.
RUN apt-get update && apt-get install --yes --no-install-recommends binutils \
    && python -m venv --without-pip /opt/talaria \
    && python -m pip --python /opt/talaria/bin/python install --no-compile --require-hashes \
        -r /src/requirements.lock \
    && cd /opt/talaria/lib/python*/site-packages \
    && find . -depth -type d \( -name tests -o -name test -o -name sample_data -o -name sboms \) \
        -exec rm -r {} + \
    && find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' \
        -o -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.dll' \) -delete \
    && find babel/locale-data -name '*.dat' ! -name root.dat ! -name en.dat ! -name de.dat -delete \
    && find fontTools -name '*.so' -delete \
    && rm -r PIL/_avif*.so pillow.libs/libavif* lxml/objectify*.so numpy/_core/_simd*.so \
        matplotlib/mpl-data/fonts/ttf/STIX* matplotlib/mpl-data/fonts/ttf/cm*.ttf \
    && strip --strip-unneeded uvloop/*.so kiwisolver/*.so cryptography/hazmat/bindings/*.so \
        aiohttp/*.so aiohttp/_websocket/*.so multidict/*.so propcache/*.so frozenlist/*.so \
        tree_sitter/*.so regex/*.so obstore/*.so PIL/_imaging.*.so re2/*.so
COPY pyproject.toml README.md LICENSE LICENSE.Apache-2.0 NOTICE /src/
COPY gateway /src/gateway
COPY agent_core /src/agent_core
COPY adapters /src/adapters
COPY skills_bundled /src/skills_bundled
COPY tools/write_bytecode.py /src/
# The final file system is read-only, so bytecode is written here, of what Talaria loads.
RUN cd /src \
    && /opt/talaria/bin/python -m hatchling build -t wheel -d /dist \
    && python -m pip --python /opt/talaria/bin/python install --no-compile --no-deps /dist/*.whl \
    && find /opt/talaria -name '__pycache__' -type d -exec rm -r {} + \
    && cd / && MPLCONFIGDIR=/tmp /opt/talaria/bin/python /src/write_bytecode.py

FROM python:3.13-slim
ENV PATH=/opt/talaria/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    TALARIA_HOME=/data
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates fonts-unifont tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
        /usr/share/fonts/truetype/unifont /usr/share/fonts/opentype/unifont/unifont_[cj]*.otf \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin talaria \
    && install --directory --owner=talaria --group=root --mode=0770 /data
COPY --from=build /opt/talaria /opt/talaria
USER talaria
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["talaria", "check", "--live"]
ENTRYPOINT ["tini", "--", "talaria"]
CMD ["run"]
