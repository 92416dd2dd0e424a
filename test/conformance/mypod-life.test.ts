/**
 * Tests of MyPods over time: deletion, namespaces that deny Pods or are deleted, and restarts of the operator. If the name of a test begins
 * with an id such as A8, the test covers the row of the acceptance tests that has this id.
 */
import t from 'tap'
import { event, namespace as namespaceType, pod } from '../../src/api/builtin.ts'
import { createClient } from '../../src/client/client.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import { untilGone } from '../support/devcluster/client.ts'
import { conditionOf, mypodNamed, namespace, seconds, startMyPodWorld } from '../support/mypod/world.ts'
import { until } from '../../src/testing/until.ts'
import { needsRequests } from '../support/conformance/backends.ts'

/** Two namespaces that the tests create and delete, even if the tests run on an existing cluster. */
const leaving = 'mypods-leaving'
const restricted = 'mypods-restricted'

t.test('the life of MyPods', async (t) => {
  const world = await startMyPodWorld(t)
  const { controlPlane, client, whenCollected, running, podOf, mypodOf } = world
  let operator = await world.startOperator()
  const collected = whenCollected()
  collected.catch(() => undefined) // the tests that await `collected` report the rejection

  t.test('A13: in a namespace with level restricted the status reports the missing Pod, without a retry loop', async (t) => {
    await client.create(namespaceType, { metadata: { name: restricted, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } })
    t.teardown(() => client.delete(namespaceType, { name: restricted }).catch(() => undefined))
    const violation = [
      'violates PodSecurity "restricted:latest": ',
      'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ',
      'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), ',
      'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), ',
      'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ].join('')
    const warnings: string[] = []
    const warned = createClient(controlPlane.connection, { onWarning: (text) => warnings.push(text) })
    t.teardown(() => warned.close())
    await until('the namespace is ready for Pods', () =>
      warned.create(mypod, mypodNamed('bare', {}, { namespace: restricted }), { dryRun: true }),
    )
    warnings.length = 0
    const start = Date.now()
    await warned.create(mypod, mypodNamed('bare', {}, { namespace: restricted }))
    t.strictSame(warnings, [`the Pod would be refused now: pods "bare" is forbidden: ${violation}`])
    const refused = await until('the status says so', async () => {
      const found = await mypodOf('bare', restricted)
      return found !== undefined && conditionOf(found, 'Degraded')?.status === 'True' && found
    })
    const message = `pods "bare" is forbidden: ${violation}`
    t.match(conditionOf(refused, 'Degraded'), { reason: 'PodCreateFailed', message })
    t.match(conditionOf(refused, 'Ready'), { status: 'False', reason: 'PodCreateFailed' })
    await until('there is a Warning', async () =>
      (await client.list(event, { namespace: restricted })).items.find(
        ({ reason, type }) => reason === 'PodCreateFailed' && type === 'Warning',
      ),
    )
    // The operator must not retry immediately after the API server has denied the Pod `bare`. The Pod `elsewhere` takes some time to start.
    // In this time, an operator that retries immediately would send many requests, and the test `the requests` would fail.
    await running('elsewhere')
    t.ok(operator.isAlive())
    t.test('the requests', needsRequests, async (t) => {
      const tries = (await world.writesSince(start)).filter((request) => request === `create /api/v1/namespaces/${restricted}/pods`)
      // One more attempt is possible, because the operator's update of the status triggers a reconcile.
      t.ok(tries.length >= 1 && tries.length <= 2, `it tried ${tries.length} times`)
    })

    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
    const podSpec = {
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'main', image: 'example.com/pause:1', securityContext }],
    }
    warnings.length = 0
    await warned.patch(mypod, { namespace: restricted, name: 'bare' }, { spec: { podSpec } })
    t.strictSame(warnings, [])
    const healed = await until('it is ready', async () => {
      const found = await mypodOf('bare', restricted)
      return found !== undefined && conditionOf(found, 'Ready')?.status === 'True' && found
    })
    t.equal(conditionOf(healed, 'Degraded')?.status, 'False')
  })

  t.test('a reconcile without a difference writes nothing', needsRequests, async (t) => {
    const key = { namespace, name: 'steady' }
    await running('steady')
    await until('the event is written', async () =>
      (await client.list(event, { namespace })).items.find(
        ({ involvedObject }) => involvedObject.name === 'steady' && involvedObject.kind === 'MyPod',
      ),
    )
    const start = Date.now()
    const { metadata } = (await podOf('steady'))!
    for (let round = 1; round <= 10; round += 1) {
      const before = await operator.reconciles()
      await client.patch(mypod, key, { metadata: { annotations: { round: String(round) } } })
      await until('it was reconciled', async () => (await operator.reconciles()) > before)
    }
    t.strictSame(await world.writesSince(start), [])
    t.equal((await podOf('steady'))!.metadata.resourceVersion, metadata.resourceVersion)
  })

  t.test('A11: a restart of the operator changes nothing', async (t) => {
    await running('restarted')
    const { items: before } = await client.list(pod, { namespace })
    const { items: objects } = await client.list(mypod, { namespace })
    await operator.stop()
    t.notOk(operator.isAlive())
    const start = Date.now()
    operator = await world.startOperator()
    await until('all have been reconciled', async () => (await operator.reconciles()) >= objects.length)
    const versions = (list: typeof before | typeof objects) =>
      list.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }))
    t.strictSame(versions((await client.list(pod, { namespace })).items), versions(before))
    t.strictSame(versions((await client.list(mypod, { namespace })).items), versions(objects))
    t.test('the requests', needsRequests, async (t) => t.strictSame(await world.writesSince(start), []))
  })

  t.test('a deleted namespace is emptied, and the operator creates nothing in it', async (t) => {
    await client.create(namespaceType, { metadata: { name: leaving } })
    await until('MyPods can be created in it', () => client.create(mypod, mypodNamed('inside', {}, { namespace: leaving })))
    await until('its Pod runs', async () => (await podOf('inside', leaving))?.status?.phase === 'Running')
    await client.delete(namespaceType, { name: leaving })
    await until(
      'the namespace is gone',
      async () => (await client.get(namespaceType, { name: leaving }).catch(() => undefined)) === undefined,
      60 * seconds,
    )
    t.equal(await podOf('inside', leaving), undefined)
    t.equal(await mypodOf('inside', leaving), undefined)
    t.ok(operator.isAlive())
  })

  t.test('A8: a MyPod is deleted with its Pod', async () => {
    await running('deleted')
    await collected
    await client.delete(mypod, { namespace, name: 'deleted' })
    await untilGone(client, mypod, { namespace, name: 'deleted' })
    await until('the Pod is gone', async () => (await podOf('deleted')) === undefined, 40 * seconds)
  })

  t.test('the propagation policy Orphan keeps the Pod', async (t) => {
    await collected
    const { live } = await running('orphaned')
    await client.delete(mypod, { namespace, name: 'orphaned' }, { propagationPolicy: 'Orphan' })
    await until('the MyPod is gone', async () => (await mypodOf('orphaned')) === undefined, 40 * seconds)
    const after = (await podOf('orphaned'))!
    t.equal(after.metadata.uid, live.metadata.uid)
    t.equal(after.metadata.ownerReferences, undefined)
    t.equal(after.metadata.deletionTimestamp, undefined)
  })

  t.test('no request of the operator was forbidden', needsRequests, async (t) => {
    const isRefusedToAll = (request: string): boolean => [leaving, restricted].some((name) => request.includes(`/namespaces/${name}/`))
    t.strictSame(
      (await world.refusals()).filter((request) => !isRefusedToAll(request)),
      [],
    )
  })
})
