import t from 'tap'
import { pino } from 'pino'
import { node, pod, secret } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import { failure } from '../../src/api/status.ts'
import { Type } from '../../src/api/type.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { checkPermissions } from '../../src/manager/permissions.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({
  name: 'thing',
  kinds: [kind],
  webhooks: [defineWebhook(kind, { reads: [secret, pod] })],
  controllers: [defineController(kind, { reconcile: async () => undefined, owns: [pod], watches: [{ type: node, map: () => [] }] })],
})

interface Attributes {
  group: string
  resource: string
  verb: string
  namespace?: string
}
function check(
  answer: (attributes: Attributes) => boolean,
  namespaces?: readonly string[],
  operators = [operator],
): { done: Promise<void>; asked: string[]; log: { level: number; msg: string }[] } {
  const asked: string[] = []
  const log: { level: number; msg: string }[] = []
  const client = {
    create: async (_type: unknown, object: { spec: { resourceAttributes: Attributes } }) => {
      const { resourceAttributes } = object.spec
      const { group, resource, verb, namespace } = resourceAttributes
      asked.push([verb, resource, group, namespace].filter(Boolean).join(' '))
      return { status: { allowed: answer(resourceAttributes) } }
    },
  } as unknown as Pick<Client, 'create'>
  const logger = pino({}, { write: (line: string) => void log.push(JSON.parse(line) as { level: number; msg: string }) })
  return {
    done: checkPermissions({ operators, client, namespaces, connection: { describe: 'kubeconfig a, context b' }, logger }),
    asked,
    log,
  }
}

t.test('every watched type is asked about, in each namespace that is watched', async (t) => {
  const all = check(() => true)
  await all.done
  t.strictSame(all.asked, [
    'list things example.com',
    'watch things example.com',
    ...['list pods', 'watch pods', 'list nodes', 'watch nodes'],
    // What webhooks read.
    ...['list secrets', 'watch secrets'],
  ])
  const some = check(() => true, ['a', 'b'])
  await some.done
  t.strictSame(some.asked.slice(0, 4), [
    'list things example.com a',
    'watch things example.com a',
    'list things example.com b',
    'watch things example.com b',
  ])
  t.strictSame(some.asked.slice(8, 10), ['list nodes', 'watch nodes'], 'cluster-scoped types have no namespace')
})

t.test('a primary kind that may not be read is one clear sentence', async (t) => {
  await t.rejects(check(({ resource }) => resource !== 'things').done, {
    code: 'PRO_PERMISSION',
    message:
      'The user of kubeconfig a, context b may not list and watch things.example.com in all namespaces, which the operators cannot do without: ' +
      'grant it with the rules that "proreus generate" writes to config/rbac/role.yaml.',
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

t.test('what else is missing is a warning', async (t) => {
  const { done, log } = check(({ resource }) => resource === 'things')
  await done
  t.equal(log.length, 1)
  t.match(log[0], {
    level: 40,
    msg: /may not list and watch pods in all namespaces, and list and watch nodes, and list and watch secrets in all namespaces; /,
  })
})

t.test('a server that does not say is no reason to stop; one that is away, or does not know the user, is', async (t) => {
  const refuse = check(() => {
    throw new ApiError(failure(403, 'Forbidden', 'no'))
  })
  await refuse.done
  t.strictSame(refuse.log, [])
  const away = check(() => {
    throw new Error('unreachable')
  })
  await t.rejects(away.done, { message: 'unreachable' })
  const unknown = check(() => {
    throw new ApiError(failure(401, 'Unauthorized', 'Unauthorized'))
  })
  await t.rejects(unknown.done, { message: 'Unauthorized' })
})
