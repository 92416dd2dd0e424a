/**
 * Generated schemas and objects before the real API server, the embedded one, and the functions behind `proreus validate`:
 * they must accept the same, make the same of it, and refuse the rest in the same words.
 * `SEED=… CASES=…` chooses another run or a longer one.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import type { FieldError } from '../../src/api/field-error.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { crdOf } from '../../src/manifests/crd.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import type { ControlPlaneBackend } from '../../src/testing/control-plane.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { apiOf } from '../support/api-request.ts'
import type { Api } from '../support/api-request.ts'
import { proreus, repository, until } from '../support/process.ts'
import type { Outcome } from '../support/schema-fuzz.ts'
import { fuzzDefinitions, fuzzObjects } from '../support/schema-fuzz.ts'
import { namespace } from '../support/schema-judges.ts'
import { seed } from '../support/seed.ts'

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

t.test('the command finds in files what the API server finds in requests', async (t) => {
  const definition = crdOf(mypod)
  t.equal((await real('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })).status, 201)
  const path = `/apis/${mypod.group}/v1/namespaces/${namespace}/${mypod.plural}`
  await until('MyPods are served', async () => (await real('GET', path)).status === 200)
  const folder = join(repository, 'config/samples/invalid')
  const { stdout } = await proreus(['validate', folder, '--operators', 'mypod', '-o', 'json'])
  const reviews = JSON.parse(stdout) as readonly { readonly source: string; readonly errors: readonly FieldError[] }[]
  t.ok(reviews.length >= 5)
  for (const { source, errors } of reviews) {
    const object = parse(await readFile(source.replace(/:\d+$/, ''), 'utf8')) as JsonObject
    const body = { ...object, metadata: { ...(object.metadata as JsonObject), namespace } }
    const { body: answer } = await real('POST', `${path}?dryRun=All&fieldValidation=Ignore`, { body })
    const causes = ((answer.details as { causes?: readonly JsonObject[] } | undefined)?.causes ?? []).map(
      ({ reason, field, message }) => `${String(reason)} ${String(field)}: ${String(message)}`,
    )
    const told = errors.map(({ reason, path: field, message }) => `${reason} ${field}: ${message}`)
    // The kind has rules of its own besides.
    t.strictSame(
      causes.filter((cause) => !told.includes(cause)),
      [],
      source,
    )
    if (answer.status === 'Failure') t.ok(told.length > 0, source)
  }
})
