/** Tests of the validation of the fields that control the rollout of workloads. */
import t from 'tap'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { refusal } from '../support/conformance/refusal.ts'

const { client } = await conformanceControlPlane(t)
const namespace = await newNamespaces(client, 'rolling-update-fields')()

const matchLabels = { app: 'a' }
const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } }
const base = { selector: { matchLabels }, template }
const types = { deployment: apps.deployment, daemonSet: apps.daemonSet, statefulSet: apps.statefulSet }

/** Creates a workload in a dry run. Resolves with the status code and the causes of the rejection. */
async function causes(type: keyof typeof types, fields: object): Promise<(number | string)[]> {
  const required = type === 'statefulSet' ? { serviceName: 'a' } : {}
  const object = { metadata: { namespace, name: 'one' }, spec: { ...base, ...required, ...fields } }
  return refusal(client.create(types[type] as typeof apps.deployment, object, { dryRun: true }))
}

const notPercent = (path: string, value: string): string =>
  `${path}: Invalid value: "${value}": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', ` +
  "regex used for validation is '[0-9]+%')"
const negative = (path: string): string => `${path}: Invalid value: -1: must be greater than or equal to 0`
const above = (path: string, value: string): string => `${path}: Invalid value: "${value}": must not be greater than 100%`

t.test('Deployments', async (t) => {
  const [unavailable, surge] = ['maxUnavailable', 'maxSurge'].map((field) => `spec.strategy.rollingUpdate.${field}`) as [string, string]
  const stuck = (value: string): string => `${unavailable}: Invalid value: ${value}: may not be 0 when \`maxSurge\` is 0`
  const cases: [object, ...string[]][] = [
    [{ maxSurge: '150%' }],
    [{ maxSurge: -1 }, negative(surge)],
    [{ maxSurge: -1, maxUnavailable: -1 }, negative(surge), negative(unavailable)],
    [{ maxUnavailable: '5' }, notPercent(unavailable, '5')],
    [{ maxUnavailable: 'x%' }, notPercent(unavailable, 'x%')],
    [{ maxUnavailable: '' }, notPercent(unavailable, '')],
    [{ maxUnavailable: '-1%' }, notPercent(unavailable, '-1%')],
    [{ maxUnavailable: '101%' }, above(unavailable, '101%')],
    [{ maxUnavailable: '000%', maxSurge: 0 }, stuck('"000%"')],
    [{ maxUnavailable: 'x', maxSurge: 0 }, notPercent(unavailable, 'x'), stuck('"x"')],
    [{ maxUnavailable: 0, maxSurge: '3' }, notPercent(surge, '3')],
  ]
  for (const [rollingUpdate, ...wanted] of cases)
    t.strictSame(await causes('deployment', { strategy: { rollingUpdate } }), wanted.length === 0 ? [] : [422, ...wanted.sort()])
  t.strictSame((await causes('deployment', { strategy: { rollingUpdate: { maxSurge: 2.5 } } }))[0], 400)
  t.strictSame(await causes('deployment', { revisionHistoryLimit: -1 }), [422, negative('spec.revisionHistoryLimit')])
})

t.test('DaemonSets', async (t) => {
  const path = 'spec.updateStrategy.rollingUpdate'
  const [unavailable, surge] = [`${path}.maxUnavailable`, `${path}.maxSurge`]
  const both = (value: string): string => `${surge}: Invalid value: ${value}: may not be set when maxUnavailable is non-zero`
  const cases: [object, ...string[]][] = [
    [{ maxUnavailable: 0, maxSurge: '30%' }],
    [{ maxSurge: 1 }, both('1')],
    [{ maxUnavailable: 0 }, `${unavailable}: Required value: cannot be 0 when maxSurge is 0`],
    [{ maxUnavailable: '0%', maxSurge: '0%' }, `${unavailable}: Required value: cannot be 0 when maxSurge is 0`],
    [{ maxUnavailable: '150%' }, above(unavailable, '150%')],
    [{ maxUnavailable: 0, maxSurge: '150%' }, above(surge, '150%')],
    [{ maxUnavailable: -1 }, negative(unavailable)],
    [{ maxSurge: -1 }, negative(surge), both('-1')],
    [{ maxSurge: '7' }, notPercent(surge, '7'), both('"7"')],
    [{ maxSurge: 'x' }, notPercent(surge, 'x')],
  ]
  for (const [rollingUpdate, ...wanted] of cases)
    t.strictSame(await causes('daemonSet', { updateStrategy: { rollingUpdate } }), wanted.length === 0 ? [] : [422, ...wanted.sort()])
  t.strictSame(await causes('daemonSet', { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxSurge: -1 } } }), [])
  t.strictSame(await causes('daemonSet', { revisionHistoryLimit: -1 }), [422, negative('spec.revisionHistoryLimit')])
})

t.test('StatefulSets', async (t) => {
  const update = (rollingUpdate: object): object => ({ updateStrategy: { rollingUpdate } })
  t.strictSame(await causes('statefulSet', update({ partition: -1 })), [422, negative('spec.updateStrategy.rollingUpdate.partition')])
  t.strictSame(await causes('statefulSet', update({ maxUnavailable: 'x' })), [], 'this field is ignored')
  t.strictSame(await causes('statefulSet', { revisionHistoryLimit: -1 }), [])
})
