import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { accessReviewRule, core } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { crdOf } from '../../../src/manifests/crd.ts'
import { shippedOperators } from '../../../src/operators/index.ts'
import { mypodOperator } from '../../../src/operators/mypod/index.ts'
import { mypod } from '../../../src/operators/mypod/kind.ts'
import { validateMyPod, validateMyPodInCluster } from '../../../src/operators/mypod/webhook.ts'
import { schemaOf } from '../../../src/schema/kind-schema.ts'
import { repository } from '../../support/process/process.ts'
import { version as ownVersion } from '../../../src/api/version.ts'

const container = { name: 'main', image: 'x:1' }

function errorsOf(spec: object, status?: object): string[] {
  const object = { apiVersion: 'harryyann.github.io/v1', kind: 'MyPod', metadata: { name: 'a' }, spec, ...(status && { status }) }
  return schemaOf(mypod, 'v1')
    .validate(object as JsonObject)
    .map(({ path, message }) => `${path}: ${message}`)
}
const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

t.test('a MyPod has a Pod spec with containers, and up to a thousand labels and annotations', async (t) => {
  const podSpec = { containers: [container] }
  t.strictSame(errorsOf({ podSpec, podLabels: entries(1000), podAnnotations: entries(1000) }), [])
  t.strictSame(errorsOf({ podSpec, podLabels: entries(1001) }), ['spec.podLabels: Too many: 1001: must have at most 1000 items'])
  t.strictSame(errorsOf({ podSpec, podAnnotations: entries(1001) }), ['spec.podAnnotations: Too many: 1001: must have at most 1000 items'])
  for (const [wrong, path] of [
    [{}, 'spec.podSpec'],
    [{ podSpec: {} }, 'spec.podSpec.containers'],
    [{ podSpec: { containers: [] } }, 'spec.podSpec.containers'],
    [{ podSpec: { containers: [{ name: 'a' }] } }, 'spec.podSpec.containers[0].image'],
    [{ podSpec: { containers: [{ image: 'a' }] } }, 'spec.podSpec.containers[0].name'],
    [{ podSpec: { containers: [{ ...container, image: '' }] } }, 'spec.podSpec.containers[0].image'],
    [{ podSpec: { containers: [container, container] } }, 'spec.podSpec.containers[1]'],
    [{ podSpec, podLabels: { a: 1 } }, 'spec.podLabels.a'],
    [{ podSpec, podAnnotations: { a: 1 } }, 'spec.podAnnotations.a'],
  ] as const)
    t.strictSame(
      errorsOf(wrong).map((error) => error.split(': ')[0]),
      [path],
      JSON.stringify(wrong),
    )
})

t.test('all fields of the status are optional', async (t) => {
  const spec = { podSpec: { containers: [container] } }
  const status = { podPhase: 'Running', podIp: 'i', nodeIp: 'n', createdTimestamp: 1, observedGeneration: 2, conditions: [] }
  t.strictSame(errorsOf(spec, {}), [])
  t.strictSame(errorsOf(spec, status), [])
  for (const field of Object.keys(status)) t.strictSame(errorsOf(spec, { [field]: {} }).length, 1, field)
})

t.test('the generated CRD is up to date', async (t) => {
  const file = readFileSync(join(repository, 'config/crd/bases/harryyann.github.io_mypods.yaml'), 'utf8')
  t.strictSame(parse(file), JSON.parse(JSON.stringify(crdOf(mypod))), 'otherwise "npm run generate" was not run')
})

t.test('printer columns show the phase and addresses of the Pod', async (t) => {
  t.strictSame(mypod.versions[0]!.printerColumns, [
    { name: 'Phase', jsonPath: '.status.podPhase' },
    { name: 'PodIp', jsonPath: '.status.podIp' },
    { name: 'NodeIp', jsonPath: '.status.nodeIp', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ])
})

t.test('the operator has a kind, a webhook and a controller, with their permissions', async (t) => {
  t.ok(shippedOperators().includes(mypodOperator))
  const { name, version, kinds, webhooks, controllers } = mypodOperator
  t.strictSame([name, version], ['mypod', ownVersion])
  t.strictSame([...kinds!], [mypod])
  const [webhook] = webhooks!
  t.equal(webhooks!.length, 1)
  t.equal(webhook!.type, mypod)
  const { validate, validateInCluster, rbac, ...others } = webhook!.settings as Record<string, unknown>
  t.strictSame([validate, validateInCluster], [validateMyPod, validateMyPodInCluster])
  t.strictSame([rbac, others], [[accessReviewRule], {}])
  const [controller] = controllers!
  t.equal(controllers!.length, 1)
  t.strictSame([controller!.name, controller!.type, [...controller!.types]], ['mypod', mypod, [mypod, core.pod]])
  const watched = ['get', 'list', 'watch']
  t.strictSame(controller!.rbac, [
    { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: watched },
    { apiGroups: [''], resources: ['pods'], verbs: watched },
    { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'patch'] },
  ])
})
