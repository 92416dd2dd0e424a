/**
 * Compares the real API server, the embedded API server, and the functions of `proreus validate`, with generated schemas and objects. All
 * three must accept the same objects with the same result, and reject the other objects with the same messages.
 *
 * The environment variable `SEED` sets the seed of the cases. The variable `CASES` sets the number of cases (default 1000).
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
import type { ControlPlaneBackend } from '../../src/testing/control-plane-types.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { Api } from '../support/conformance/api-request.ts'
import { proreus, repository } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import type { Outcome } from '../fuzz/fuzz.ts'
import { fuzzDefinitions, fuzzObjects } from '../fuzz/fuzz.ts'
import { namespace } from '../fuzz/servers.ts'
import { seed } from '../support/seed.ts'

const cases = Number(process.env.CASES || 1000)
/** The maximum number of differences that are printed. */
const shown = Number(process.env.SHOWN || 5)

async function apiOn(test: Test, backend: ControlPlaneBackend): Promise<Api> {
  const controlPlane = await startControlPlane({ backend, controllers: false, namespaces: [namespace] })
  test.teardown(() => controlPlane.stop())
  return apiOf(test, controlPlane.connection)
}

function report(test: Test, { counts, differences }: Outcome): void {
  test.comment(`SEED=${seed} CASES=${cases}: ${JSON.stringify(counts)}, ${differences.length} differences`)
  for (const { lines, ...one } of differences.slice(0, shown)) test.fail(lines.join('\n'), { found: JSON.stringify(one) })
  test.equal(differences.length, 0, 'all servers agree')
}

const [real, embedded] = await Promise.all([apiOn(t, 'binaries'), apiOn(t, 'embedded')])

t.test('schemas are refused with the same errors', async (t) => report(t, await fuzzDefinitions({ real, embedded }, seed, cases)))

t.test('objects have the same results', async (t) => report(t, await fuzzObjects({ real, embedded }, seed, cases)))

t.test('proreus validate finds the errors of the API server in files', async (t) => {
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
    // `proreus validate` applies the schema of MyPod and the rules of the MyPod webhook. The API server in this test applies only the
    // schema, because the webhook is not installed. Therefore, `proreus validate` may report more errors than the API server, but it must
    // report all errors of the API server.
    t.strictSame(
      causes.filter((cause) => !told.includes(cause)),
      [],
      source,
    )
    if (answer.status === 'Failure') t.ok(told.length > 0, source)
  }
})
