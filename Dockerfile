FROM node:24-trixie-slim AS manifest
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM manifest AS build
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM manifest AS dependencies
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

FROM node:24-trixie-slim
WORKDIR /app
# The service refuses an address other than loopback without ADMIN_API_KEY: `docker run -e ADMIN_API_KEY=…`.
# A configuration file is read from /app/learning.yaml, or from where LEARNING_CONFIG says.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN install -d -o node -g node -m 0700 /data
COPY --from=dependencies /app ./
COPY --from=build /app/dist ./dist
USER node
# Holds the embedded database; unused where DATABASE_URL names another.
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# A start on an empty directory, or with migrations to run, takes some seconds.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
