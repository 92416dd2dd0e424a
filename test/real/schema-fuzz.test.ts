/**
 * Generated schemas and objects before the real API server, the embedded one, and the functions behind `proreus validate`:
 * they must accept the same, make the same of it, and refuse the rest in the same words.
 * `SEED=… CASES=…` repeats a run or makes it longer.
 */
import t from 'tap'
import type { Test } from 'tap'
import type { ControlPlaneBackend } from '../../src/testing/control-plane.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { apiOf } from '../support/api-request.ts'
import type { Api } from '../support/api-request.ts'
import type { Outcome } from '../support/schema-fuzz.ts'
import { fuzzDefinitions, fuzzObjects } from '../support/schema-fuzz.ts'
import { namespace } from '../support/schema-judges.ts'

const seed = Number(process.env.SEED || Date.now() % 1_000_000_000)
const cases = Number(process.env.CASES || 1000)
/** Enough to see what is wrong; the first is to be mended first anyway. */
const shown = Number(process.env.SHOWN || 5)

async function apiOn(test: Test, backend: ControlPlaneBackend): Promise<Api> {
  const controlPlane = await startControlPlane({ backend, controllers: false, namespaces: [namespace] })
  test.teardown(() => controlPlane.stop())
  return apiOf(test, controlPlane.connection)
}

function tell(test: Test, { counts, disagreements }: Outcome): void {
  test.comment(`SEED=${seed} CASES=${cases}: ${JSON.stringify(counts)}, ${disagreements.length} disagreements`)
  for (const { lines, ...one } of disagreements.slice(0, shown)) test.fail(lines.join('\n'), { found: JSON.stringify(one) })
  test.equal(disagreements.length, 0, 'all judges agree')
}

const [real, embedded] = await Promise.all([apiOn(t, 'binaries'), apiOn(t, 'embedded')])

t.test('schemas are refused for the same reasons', async (t) => tell(t, await fuzzDefinitions({ real, embedded }, seed, cases)))

t.test('objects get the same verdict', async (t) => tell(t, await fuzzObjects({ real, embedded }, seed, cases)))
