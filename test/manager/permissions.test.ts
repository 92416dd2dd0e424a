import t from 'tap'
import { pino } from 'pino'
import { node, pod, secret } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { Type } from '../../src/api/type.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { objectPath } from '../../src/client/resource-path.ts'
import { cacheView } from '../../src/cache/view.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { checkPermissions } from '../../src/manager/permissions.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({
  name: 'thing',
  kinds: [kind],
  webhooks: [defineWebhook(kind, { reads: [pod] })],
  runnables: [{ name: 'import', run: () => undefined, reads: [secret] }],
  controllers: [defineController(kind, { reconcile: async () => undefined, owns: [pod], watches: [{ type: node, map: () => [] }] })],
})

interface Attributes {
  group: string
  resource: string
  verb: string
  namespace?: string
  name?: string
}
interface Line {
  level: number
  msg: string
  missing?: string[]
}

function check(
  answer: (attributes: Attributes) => boolean,
  namespaces?: readonly string[],
  operators = [operator],
): { done: Promise<void>; reviews: string[]; log: Line[] } {
  const reviews: string[] = []
  const log: Line[] = []
  const client = {
    create: async (type: ResourceType, object: { spec: { resourceAttributes: Attributes } }) => {
      t.equal(objectPath(type, { name: 'x' }), '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x', 'a review has no namespace')
      const { resourceAttributes } = object.spec
      const { group, resource, verb, namespace } = resourceAttributes
      reviews.push([verb, resource, group, namespace].filter(Boolean).join(' '))
      return { status: { allowed: answer(resourceAttributes) } }
    },
  } as unknown as Pick<Client, 'create'>
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line) as Line) })
  return {
    done: checkPermissions({ operators, client, namespaces, connection: { describe: 'kubeconfig a, context b' }, logger }),
    reviews,
    log,
  }
}

t.test('access to every watched type is reviewed, in each watched namespace', async (t) => {
  const all = check(() => true)
  await all.done
  t.strictSame(all.reviews, [
    'list things example.com',
    'watch things example.com',
    ...['list pods', 'watch pods', 'list nodes', 'watch nodes'],
    // The webhooks need these permissions, because their `reads` contain these types.
    ...['list secrets', 'watch secrets'],
  ])
  const some = check(() => true, ['a', 'b'])
  await some.done
  t.strictSame(some.reviews.slice(0, 4), [
    'list things example.com a',
    'watch things example.com a',
    'list things example.com b',
    'watch things example.com b',
  ])
  t.strictSame(some.reviews.slice(8, 10), ['list nodes', 'watch nodes'], 'cluster-scoped types have no namespace')
})

t.test('a missing permission for a primary kind is an error of one sentence', async (t) => {
  await t.rejects(check(({ resource }) => resource !== 'things').done, {
    code: 'PRO_PERMISSION',
    message:
      'The user of kubeconfig a, context b may not list and watch things.example.com in all namespaces, which the operators cannot do without; ' +
      'grant it: apply config/rbac/role.yaml, which "proreus generate" writes, and bind its ClusterRole to this user; config/rbac/role_binding.yaml binds it to the ServiceAccount of the installation.',
  })
  await t.rejects(
    check(({ resource, namespace, verb }) => resource !== 'things' || namespace !== 'b' || verb !== 'watch', ['a', 'b']).done,
    {
      message: /may not watch things\.example\.com in the namespace "b", which/,
    },
  )
})

t.test('a kind that one controller reconciles and another owns is a primary kind', async (t) => {
  const things = defineController(kind, { reconcile: async () => undefined })
  const pods = defineController(pod, { reconcile: async () => undefined, owns: [kind] })
  for (const controllers of [
    [things, pods],
    [pods, things],
  ]) {
    const both = defineOperator({ name: 'both', kinds: [kind], controllers })
    const { done } = check(({ resource }) => resource !== 'things', undefined, [both])
    await t.rejects(done, { code: 'PRO_PERMISSION', message: /may not list and watch things\.example\.com in all namespaces, which/ })
  }
})

t.test('other missing permissions are a warning', async (t) => {
  const { done, log } = check(({ resource }) => resource === 'things')
  await done
  t.equal(log.length, 1)
  const { level, msg, missing } = log[0]!
  t.strictSame(
    { level, msg, missing },
    {
      level: 40,
      msg: 'the user of kubeconfig a, context b may not list and watch pods in all namespaces, and list and watch nodes, and list and watch secrets in all namespaces; what needs it waits; grant it: apply config/rbac/role.yaml, which "proreus generate" writes, and bind its ClusterRole to this user; config/rbac/role_binding.yaml binds it to the ServiceAccount of the installation',
      missing: ['list pods', 'watch pods', 'list nodes', 'watch nodes', 'list secrets', 'watch secrets'],
    },
  )
})

t.test('each check is a SelfSubjectAccessReview with the signal, and an empty answer is not a denial', async (t) => {
  const reviews: unknown[] = []
  const client = {
    create: async ({ group, version, kind, plural }: ResourceType, object: object, options: object) => {
      reviews.push({ type: { group, version, kind, plural }, object, options })
      return {}
    },
  } as unknown as Pick<Client, 'create'>
  const { signal } = new AbortController()
  const operators = [
    defineOperator({ name: 'thing', kinds: [], controllers: [defineController(kind, { reconcile: async () => undefined })] }),
  ]
  await checkPermissions({ operators, client, namespaces: ['a'], connection: { describe: 'x' }, logger: pino({ level: 'silent' }), signal })
  const type = { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews' }
  const attributes = { group: 'example.com', resource: 'things', namespace: 'a' }
  t.strictSame(
    reviews,
    ['list', 'watch'].map((verb) => ({
      type,
      object: { metadata: {}, spec: { resourceAttributes: { ...attributes, verb } } },
      options: { signal },
    })),
  )
})

t.test('a primary kind that webhooks read too is reviewed once, as a primary kind', async (t) => {
  const webhooks = [defineWebhook(kind, { reads: [kind] })]
  const controllers = [defineController(kind, { reconcile: async () => undefined })]
  const { done, reviews } = check(() => false, [], [defineOperator({ name: 'thing', kinds: [kind], webhooks, controllers })])
  await t.rejects(done, { code: 'PRO_PERMISSION' })
  t.strictSame(reviews, ['list things example.com', 'watch things example.com'])
})

t.test('a failing access review does not stop the start; an unreachable server or an unknown user does', async (t) => {
  const refuse = check(() => {
    throw new ApiError(failure(403, 'Forbidden', 'no'))
  })
  await refuse.done
  const unsaid = ['things.example.com', 'pods', 'nodes', 'secrets'].flatMap((type) => ['list', 'watch'].map((verb) => `${verb} ${type}`))
  t.strictSame(
    refuse.log.map(({ level, msg }) => `${level} ${msg}`),
    unsaid.map((what) => `20 the API server did not answer whether this user may ${what}`),
  )
  const away = check(() => {
    throw new Error('unreachable')
  })
  await t.rejects(away.done, { message: 'unreachable' })
  const unknown = check(() => {
    throw new ApiError(failure(401, 'Unauthorized', 'Unauthorized'))
  })
  await t.rejects(unknown.done, { message: 'Unauthorized' })
})

t.test('at most twenty reviews are requested at a time', async (t) => {
  let [pending, most, total] = [0, 0, 0]
  const client = {
    create: async () => {
      total += 1
      most = Math.max(most, (pending += 1))
      await new Promise((resolve) => setImmediate(resolve))
      pending -= 1
      return { status: { allowed: false } }
    },
  } as unknown as Pick<Client, 'create'>
  const namespaces = Array.from({ length: 15 }, (_, index) => `ns-${index}`)
  const options = { operators: [operator], client, namespaces, connection: { describe: 'a test' }, logger: pino({ level: 'silent' }) }
  await t.rejects(checkPermissions(options), { code: 'PRO_PERMISSION' })
  t.equal(most, 20)
  t.equal(total, 92)
})

t.test('for a view, its own namespaces and its only name are reviewed', async (t) => {
  const asked: Attributes[] = []
  const views = [
    cacheView(secret, { namespaces: ['x'], fields: 'metadata.name=ca' }),
    cacheView(pod, { labels: { matchLabels: { app: 'web' } } }),
    cacheView(node, { metadataOnly: true }),
  ]
  const viewing = defineOperator({
    name: 'viewing',
    kinds: [kind],
    webhooks: [defineWebhook(kind, { reads: [views[0]!] })],
    controllers: [defineController(views[0]!, { name: 'viewing', reconcile: async () => undefined, owns: [pod, views[1]!, views[2]!] })],
  })
  const { done } = check((attributes) => attributes.resource !== 'secrets' && asked.push(attributes) > 0, ['a'], [viewing])
  await t.rejects(done, { code: 'PRO_PERMISSION', message: /may not list and watch secrets named "ca" in the namespace "x", which/ })
  t.strictSame(asked, [
    { group: '', resource: 'pods', verb: 'list', namespace: 'a' },
    { group: '', resource: 'pods', verb: 'watch', namespace: 'a' },
    { group: '', resource: 'nodes', verb: 'list' },
    { group: '', resource: 'nodes', verb: 'watch' },
  ])
})
