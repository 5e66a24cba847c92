import { defineConfig } from "vitest/config";

// The server of `botz lab`, for `npm run dev` beside it.
const server = "http://127.0.0.1:8470";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/botz/view/lab/client",
    emptyOutDir: true,
    target: "es2022",
    // three.js is one piece of about 700 kB; a phone loads it once.
    chunkSizeWarningLimit: 1200,
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      // The lab takes requests of its own page only: the proxy asks in its name.
      "/api": { target: server, changeOrigin: true, headers: { origin: server } },
      "/ws": { target: server, changeOrigin: true, ws: true, headers: { origin: server } },
    },
  },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
