/** Tests of a controller with a finalizer: its objects are cleaned up before they are removed. */
import t from 'tap'
import { configMap, customResourceDefinition } from '../../src/api/builtin.ts'
import { defineController, defineKind, defineOperator, Type } from '../../src/index.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'
import { untilGone } from '../support/devcluster/client.ts'

const namespace = 'conformance-finalizers'
const finalizer = 'example.com/cleanup'
const foreign = 'example.com/foreign'

/**
 * The kind Bucket. The contents of a Bucket are in a ConfigMap. Because the ConfigMap has no owner reference, only the function `finalize`
 * of the controller deletes the ConfigMap.
 */
const bucket = defineKind({
  group: 'finalizers.example.com',
  kind: 'Bucket',
  versions: [
    { name: 'v1', spec: Type.Object({ locked: Type.Boolean({ default: false }) }), status: Type.Object({ ready: Type.Boolean() }) },
  ],
})

let refusals = 0
const operator = defineOperator({
  name: 'buckets',
  kinds: [bucket],
  controllers: [
    defineController(bucket, {
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch', 'delete'] }],
      async reconcile({ metadata: { namespace, name } }, { client }) {
        await client.apply(configMap, { metadata: { namespace, name }, data: { of: name } })
      },
      finalizer: {
        name: finalizer,
        async finalize({ metadata: { namespace, name }, spec }, { client }) {
          if (spec.locked) {
            refusals += 1
            return { requeueAfterMs: 20 }
          }
          await client.delete(configMap, { namespace, name })
          return undefined
        },
      },
    }),
  ],
})

const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const { client } = controlPlane
t.teardown(() => client.delete(customResourceDefinition, { name: 'buckets.finalizers.example.com' }).catch(() => undefined))
await controlPlane.startOperator([operator])
const key = (name: string) => ({ namespace, name })
const contentsOf = (name: string) => client.get(configMap, key(name))

t.test('the finalizer is added before the first reconcile, and removed after the cleanup', async (t) => {
  await client.create(bucket, { metadata: { ...key('a'), finalizers: [foreign] }, spec: {} })
  await until('the contents exist', () => contentsOf('a'))
  t.strictSame((await client.get(bucket, key('a'))).metadata.finalizers, [foreign, finalizer])
  await client.delete(bucket, key('a'))
  const left = await until('it is finalized', async () => {
    const { finalizers } = (await client.get(bucket, key('a'))).metadata
    return finalizers?.includes(finalizer) === false ? finalizers : undefined
  })
  t.strictSame(left, [foreign], 'the finalizers of others stay')
  await t.rejects(contentsOf('a'), /not found/)
  await client.patch(bucket, key('a'), { metadata: { finalizers: null } })
  await untilGone(client, bucket, key('a'))
})

t.test('the object stays while the cleanup is not finished', async (t) => {
  await client.create(bucket, { metadata: key('b'), spec: { locked: true } })
  await until('the contents exist', () => contentsOf('b'))
  await client.delete(bucket, key('b'))
  await until('it was tried twice', () => refusals >= 2)
  t.strictSame((await client.get(bucket, key('b'))).metadata.finalizers, [finalizer])
  t.equal((await contentsOf('b')).data?.['of'], 'b')
  await client.patch(bucket, key('b'), { spec: { locked: false } })
  await untilGone(client, bucket, key('b'))
  await t.rejects(contentsOf('b'), /not found/)
})

t.test('the life of an object takes two writes for its finalizer', needsRequests, async (t) => {
  await client.create(bucket, { metadata: key('c'), spec: {} })
  await until('the contents exist', () => contentsOf('c'))
  await client.delete(bucket, key('c'))
  await untilGone(client, bucket, key('c'))
  const path = `/apis/finalizers.example.com/v1/namespaces/${namespace}/buckets/c`
  const patches = (await controlPlane.requests()).filter((request) => request.path.startsWith(path) && request.verb === 'patch')
  t.strictSame(
    patches.map(({ code }) => code),
    [200, 200],
  )
})
