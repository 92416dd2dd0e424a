/** Tests of server-side apply requests to the scale subresource, and of the managers that own the replicas field afterwards. */
import type { Test } from 'tap'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  applyPatch,
  custom,
  define,
  definition,
  mergePatch,
  namespace,
  object,
  objects,
  string,
} from '../support/conformance/definitions.ts'
import { metadataOf } from '../support/conformance/objects.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const integer = { type: 'integer' }
const schema = object({ spec: object({ inner: object({ size: integer }), color: string }), status: object({ size: integer }) })
const scale = { specReplicasPath: '.spec.inner.size', statusReplicasPath: '.status.size' }
await define(t, api, definition('gauges', 'Gauge', schema, { subresources: { status: {}, scale } }))

interface Kind {
  readonly path: (name?: string) => string
  readonly of: (name: string, replicas?: number) => JsonObject
  readonly number: (spec: JsonObject) => unknown
  /** The path of the replicas field in fieldsV1. */
  readonly field: readonly string[]
}

const workload = (plural: string, kind: string, more: JsonObject = {}): Kind => ({
  path: (name = '') => `/apis/apps/v1/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`,
  of: (name, replicas) => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...more,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }),
  number: ({ replicas }) => replicas,
  field: ['f:spec', 'f:replicas'],
})
const deployments = workload('deployments', 'Deployment')
const workloads: readonly Kind[] = [
  deployments,
  workload('replicasets', 'ReplicaSet'),
  workload('statefulsets', 'StatefulSet', { serviceName: 's' }),
]
const gauges: Kind = {
  path: (name) => objects('gauges', name),
  of: (name, size) => custom('Gauge', name, { spec: { color: 'red', ...(size === undefined ? {} : { inner: { size } }) } }),
  number: ({ inner }) => (inner as JsonObject | undefined)?.size,
  field: ['f:spec', 'f:inner', 'f:size'],
}

const scaleOf = (rest: JsonObject): JsonObject => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', ...rest })

/**
 * One request of a field manager. The manager `creator` creates the object, the manager `m1` applies the whole object, and the manager `up`
 * patches the Scale of the object. Every other manager applies the Scale. A `!` after the manager's name stands for `force=true`.
 */
type Step = readonly [manager: string, body: JsonObject | number | undefined, refused?: readonly [status: number, message: string]]

let names = 0
async function play(t: Test, kind: Kind, steps: readonly Step[]): Promise<JsonObject> {
  names += 1
  const name = `it-${names}`
  for (const [who, body, refused] of steps) {
    const [manager, forced] = who.split('!')
    const query = `?fieldManager=${manager}${forced === undefined ? '' : '&force=true'}`
    const scaled = (contentType: string) =>
      api('PATCH', `${kind.path(name)}/scale${query}`, {
        contentType,
        body: typeof body === 'object' ? body : scaleOf({ spec: { replicas: body! } }),
      })
    const whole = kind.of(name, body as number | undefined)
    const { status, body: answer } =
      manager === 'creator'
        ? await api('POST', kind.path() + query, { body: whole })
        : manager === 'm1'
          ? await api('PATCH', kind.path(name) + query, { contentType: applyPatch, body: whole })
          : await scaled(manager === 'up' ? mergePatch : applyPatch)
    const message = String(answer.message).replaceAll(name, 'NAME')
    if (refused === undefined) t.ok(status < 300, `${who}: ${message}`)
    else t.strictSame([status, message], refused)
  }
  return (await api('GET', kind.path(name))).body
}

async function check(t: Test, what: string, kind: Kind, ...[steps, number, managers]: [Case[1], Case[2], Case[3]]): Promise<void> {
  const object = await play(t, kind, steps)
  t.strictSame([kind.number(object.spec as JsonObject), owners(kind, object)], [number, managers], what)
}

/**
 * Returns a text for each entry in managedFields that contains the replicas field: the manager, the operation and the subresource, such as
 * `a Apply scale`. If the entry has a time, the text ends with `with a time`.
 */
function owners({ field }: Kind, body: JsonObject): string[] {
  const entries = (metadataOf(body).managedFields ?? []) as { fieldsV1: JsonObject; [key: string]: unknown }[]
  return entries
    .filter(({ fieldsV1 }) => field.reduce<JsonObject | undefined>((part, name) => part?.[name] as JsonObject | undefined, fieldsV1))
    .map(({ manager, operation, subresource, time }) => [manager, operation, subresource, time && 'with a time'].filter(Boolean).join(' '))
}

const conflictWith = (manager: string): NonNullable<Step[2]> => [
  409,
  `Apply failed with 1 conflict: conflict with ${manager}: .spec.replicas`,
]
const empty = scaleOf({ spec: {} })

type Case = readonly [what: string, steps: readonly Step[], number: number | undefined, owners: readonly string[]]

const both: readonly Case[] = [
  [
    'another applier is asked first',
    [
      ['m1', 1],
      ['a', 2, conflictWith('"m1"')],
    ],
    1,
    ['m1 Apply with a time'],
  ],
  [
    'a creator is, in the version of the Scale',
    [
      ['creator', 1],
      ['a', 2, conflictWith('"creator" using autoscaling/v1')],
    ],
    1,
    ['creator Update with a time'],
  ],
  [
    'who scaled by a patch is, too',
    [
      ['creator', 1],
      ['up', 3],
      ['a', 2, conflictWith('"up" with subresource "scale" using autoscaling/v1')],
    ],
    3,
    ['up Update scale'],
  ],
  [
    'the same number is shared',
    [
      ['m1', 1],
      ['a', 1],
      ['b', 1],
    ],
    1,
    ['a Apply scale', 'b Apply scale', 'm1 Apply with a time'],
  ],
  [
    'with a creator too, without its time',
    [
      ['creator', 1],
      ['a', 1],
    ],
    1,
    ['a Apply scale', 'creator Update'],
  ],
  [
    'a patch that changes nothing takes nothing',
    [
      ['creator', 1],
      ['up', 1],
    ],
    1,
    ['creator Update'],
  ],
  [
    'a patch takes the number from all',
    [
      ['m1', 1],
      ['a', 1],
      ['up', 2],
    ],
    2,
    ['up Update scale'],
  ],
  [
    'who says no more of the number gives it up',
    [
      ['m1', 1],
      ['a', 1],
      ['a', scaleOf({})],
    ],
    1,
    ['m1 Apply with a time'],
  ],
  [
    'an empty spec does not',
    [
      ['m1', 1],
      ['a', 1],
      ['a', empty],
    ],
    1,
    ['a Apply scale', 'm1 Apply with a time'],
  ],
  [
    "a number that nobody owned is nobody else's after a patch",
    [
      ['m1', undefined],
      ['up', 4],
    ],
    4,
    [],
  ],
]

const builtin: readonly Case[] = [
  [
    'force takes the number',
    [
      ['m1', 1],
      ['a!', 2],
      ['a', 3],
    ],
    3,
    ['a Apply scale'],
  ],
  [
    'zero is a number',
    [
      ['m1', 1],
      ['a', 0, conflictWith('"m1"')],
      ['a!', 0],
    ],
    0,
    ['a Apply scale'],
  ],
  [
    "what is applied no more, and is nobody else's, is zero",
    [
      ['m1', 1],
      ['a!', 2],
      ['a', empty],
    ],
    0,
    ['a Apply scale'],
  ],
  [
    'a default is of somebody before',
    [
      ['m1', undefined],
      ['a', 2, conflictWith('"before-first-apply" with subresource "scale" using autoscaling/v1')],
      ['a!', 2],
    ],
    2,
    ['a Apply scale'],
  ],
  [
    'and may be shared',
    [
      ['m1', undefined],
      ['a', 1],
    ],
    1,
    ['a Apply scale', 'before-first-apply Update scale'],
  ],
  ['the status is not the applier\'s', [['m1', 1], ['a', scaleOf({ spec: { replicas: 1 }, status: { replicas: 7 } })]], 1, ['a Apply scale', 'm1 Apply with a time']], // prettier-ignore
  ['a number is not negative', [['m1', 1], ['a!', -1, [422, 'Scale.autoscaling "NAME" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0']]], 1, ['m1 Apply with a time']], // prettier-ignore
]

/** The API server returns this error because it cannot convert an applied Scale to a custom resource. */
const unconverted = 'request to convert CR to an invalid group/version: autoscaling/v1'
const ofCustom: readonly Case[] = [
  [
    'of a custom resource nothing can be changed',
    [
      ['m1', 1],
      ['a!', 2, [500, `failed to convert new object (/; autoscaling/v1, Kind=Scale) to proper version: ${unconverted}`]],
    ],
    1,
    ['m1 Apply with a time'],
  ],
  [
    "nor a number be owned that was nobody's",
    [['m1', undefined], ['a', 2, [500, `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: ${unconverted}`]]], // prettier-ignore
    undefined,
    [],
  ],
]

const refused: readonly (readonly [JsonObject, number, string])[] = [
  [{ apiVersion: 'autoscaling/v2', kind: 'Scale' }, 400, 'invalid object type: autoscaling/v2, Kind=Scale'],
  [{ apiVersion: 'autoscaling/v1', kind: 'Nope' }, 400, 'invalid object type: autoscaling/v1, Kind=Nope'],
  [{ spec: { replicas: 2 } }, 400, 'invalid object type: /, Kind='],
  [scaleOf({ metadata: { managedFields: [] } }), 400, 'metadata.managedFields must be nil'],
  [
    scaleOf({ spec: { nope: 2 } }),
    500,
    'failed to create typed patch object (/; autoscaling/v1, Kind=Scale): .spec.nope: field not declared in schema',
  ],
]

t.test('an apply to the scale of a Deployment has the expected owners of replicas', async (t) => {
  for (const [what, ...rest] of [...both, ...builtin]) await check(t, what, deployments, ...rest)
})

t.test('an apply to the scale of every other workload has the expected owners', async (t) => {
  for (const kind of workloads) await check(t, kind.path(), kind, ...(both[0]!.slice(1) as [Case[1], Case[2], Case[3]]))
})

t.test('an apply to the scale of a custom resource has the expected owners', async (t) => {
  for (const [what, ...rest] of [...both, ...ofCustom]) await check(t, what, gauges, ...rest)
})

t.test('an applied object that is not a Scale is refused', async (t) => {
  for (const kind of [deployments, gauges])
    for (const [body, code, message] of refused)
      await play(t, kind, [
        ['m1', 1],
        ['a', body, [code, message]],
      ])
  const nowhere = await api('PATCH', `${deployments.path('nowhere')}/scale?fieldManager=a`, { contentType: applyPatch, body: {} })
  t.match(nowhere.body, { code: 404, message: 'deployments.apps "nowhere" not found' })
})
