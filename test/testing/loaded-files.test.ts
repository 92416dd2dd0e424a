/** Tests of the files that a control plane loads. Each file that is loaded without need makes the start slower. */
import t from 'tap'
import { loadedFiles } from '../support/process/loaded-files.ts'

t.test('the embedded control plane loads neither the main module of undici, nor a second copy of OpenTelemetry', async (t) => {
  const files = await loadedFiles('test/support/process/control-plane.ts')
  t.ok(files.includes('src/devcluster/dev-cluster.ts'))
  t.notOk(files.includes('node_modules/undici/index.js'))
  // prom-client loads the CommonJS files of OpenTelemetry. The ES modules would be a second copy.
  t.notOk(files.includes('node_modules/@opentelemetry/api/dist/index.mjs'))
})
