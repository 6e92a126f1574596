import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npm run dev` shows the sources live and asks a server that runs beside it. */
const server = process.env.TRAJCREDIT_URL ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/api": server, "/healthz": server } },
  build: {
    outDir: fileURLToPath(new URL("../trajcredit/web", import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
