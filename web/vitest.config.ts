import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [react()],
        test: { name: "unit", environment: "happy-dom", include: ["test/**/*.test.{ts,tsx}"] },
      },
      {
        test: {
          name: "e2e",
          environment: "node",
          include: ["e2e/**/*.test.ts"],
          globalSetup: "e2e/setup.ts",
          setupFiles: ["e2e/failures.ts"],
          retry: 1, // a browser on a busy machine; the first failure is printed with what its pages showed
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
