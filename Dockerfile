# The project's one image: the server, an agent, or any other command, by its arguments.
FROM node:20.19.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
# The image keeps the optional packages: without their mark in peerDependenciesMeta, npm treats them like all others.
RUN npm run build && npm pkg delete devDependencies peerDependenciesMeta && npm prune --no-audit --no-fund
# ONNX Runtime's package has libraries for every operating system.
RUN rm -r node_modules/onnxruntime-node/bin/napi-v6/darwin node_modules/onnxruntime-node/bin/napi-v6/win32

FROM node:20.19.0-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/lib lib
COPY --from=build /app/manifests manifests
COPY --from=build /app/docker/healthy.js docker/healthy.js
# Data and cache folders, writable for the user that volumes are made for.
RUN mkdir -p /home/node/.local/share/mlmodelscope /home/node/.cache/mlmodelscope && chown -R node:node /home/node
USER node
ENTRYPOINT ["node", "/app/lib/src/bin/main.js"]
CMD ["--help"]
