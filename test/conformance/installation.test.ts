/**
 * Tests of the manifests in `config/default`. kubectl installs the manifests. No kubelet runs the Pods of the Deployment. Instead, the test
 * starts the processes of the operator itself. These processes have the permissions of the Deployment's ServiceAccount.
 */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import {
  deployment,
  mutatingWebhookConfiguration,
  pod,
  secret,
  subjectAccessReview,
  validatingWebhookConfiguration,
  type CustomResourceDefinition,
  type Pod,
  type Secret,
} from '../../src/api/builtin.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { run } from '../../src/manager/run.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { find } from '../support/devcluster/client.ts'
import type { Kubectl } from '../support/devcluster/kubectl.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import {
  installation,
  mountServiceAccount,
  operatorNamespace,
  rendered,
  routeTo,
  serviceAccountUser,
  startOperatorPod,
  type OperatorPod,
} from '../support/conformance/installation.ts'
import { identityOf, mypodNamed, whenCollected } from '../support/mypod/world.ts'
import { needsPodNetwork } from '../support/conformance/pod-network.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import type { RequestRecord } from '../../src/devcluster/http/handle.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

// The test takes at least 75 s, for two reasons. The operator denies a metrics request and caches the denial for 30 s, and the test waits
// until the cached denial expires. The test also waits until connections to ended Pods expire.
t.setTimeout(600_000)

const caSecret = { namespace: operatorNamespace, name: 'proreus-webhook-ca' }
const sample = { namespace: 'test-mypod', name: 'mypod-sample' }

/**
 * Deletes all objects of the manifests. If the deletion takes too long, the error contains the conditions of the CRDs.
 *
 * Before the deletion, this function waits until the objects of each CRD can be listed. The reason: kube-apiserver lists and deletes these
 * objects before it deletes the CRD. If the storage of a new CRD is not ready, the list fails, and kube-apiserver sometimes tries again
 * only after minutes (k8s.io/apiextensions-apiserver/pkg/controller/finalizer: sync, updateCustomResourceDefinition).
 */
async function deleteInstallation(kubectl: Kubectl): Promise<void> {
  const definitions = (await kubectl.ok('get customresourcedefinitions -o name')).trim().split('\n')
  for (const definition of definitions) {
    const type = definition.split('/')[1]!
    await until(`${type} can be listed`, async () => (await kubectl(`get ${type} --all-namespaces`)).code === 0)
  }
  const { code, stderr } = await kubectl(`delete -k ${installation} --timeout=180s`)
  if (code === 0) return
  const { items } = JSON.parse(await kubectl.ok('get customresourcedefinitions -o json')) as { items: CustomResourceDefinition[] }
  const states = items.map(({ metadata: { name, deletionTimestamp }, status }) => ({
    name,
    deletionTimestamp,
    conditions: status?.conditions,
  }))
  throw new Error(`${stderr}${JSON.stringify(states)}`)
}

t.test('config/default is applied, shown and deleted', { ...needsKubectl, ...needsOwnControlPlane }, async (t) => {
  const manifests = await rendered(installation)
  const controlPlane = await conformanceControlPlane(t)
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)

  const applied = await kubectl.ok(`apply -k ${installation}`)
  t.match(applied, /^namespace\/proreus-system created$/m)
  t.match(applied, /^customresourcedefinition\.apiextensions\.k8s\.io\/mypods\.harryyann\.github\.io created$/m)
  t.match(applied, /^deployment\.apps\/proreus created$/m)
  t.equal(applied.trim().split('\n').length, manifests.length)

  const names = (await kubectl.ok(`get -k ${installation} -o name`)).trim().split('\n')
  t.strictSame(names.map((name) => name.split('/')[1]).sort(), manifests.map(({ metadata }) => metadata.name).sort())
  t.match(await kubectl.ok('get deployment proreus -n proreus-system'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nproreus +[01]\/1 /)
  t.match((await kubectl(`create -k ${installation}`)).stderr, /deployments\.apps "proreus" already exists/)
  const again = await kubectl.ok(`apply -k ${installation}`)
  t.equal(again.match(/ unchanged$/gm)?.length, manifests.length, again)

  const { spec } = await controlPlane.client.get(deployment, { namespace: operatorNamespace, name: 'proreus' })
  const ofDeployment = { metadata: { namespace: operatorNamespace, name: 'by-hand' }, spec: spec!.template.spec! }
  t.ok(await controlPlane.client.create(pod, ofDeployment, { dryRun: true }), 'its Pods may be created in its namespace')

  await deleteInstallation(kubectl)
  const after = await kubectl(`get -k ${installation} -o name`)
  t.equal(after.stdout, '')
  t.equal(after.stderr.match(/NotFound|doesn't have a resource type|no matches for kind/g)?.length, manifests.length, after.stderr)
})

t.test('the process of the Deployment', { ...needsKubectl, ...needsOwnControlPlane, ...needsPodNetwork }, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [sample.namespace] })
  const { client } = controlPlane
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  // Two concurrent runs of this file would get the same folder from `t.testdir()`.
  const home = mkdtempSync(join(tmpdir(), 'proreus-installation-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const directory = (name: string): string => join(home, name)
  await kubectl.ok(`apply -k ${installation}`)
  const stored = await client.get(deployment, { namespace: operatorNamespace, name: 'proreus' })
  // No kubelet runs the Pods of the Deployment. Instead, the test itself starts the processes of the operator, so the Deployment needs no
  // Pods.
  await client.patch(deployment, { namespace: operatorNamespace, name: 'proreus' }, { spec: { replicas: 0 } })
  const serviceAccountDir = directory('serviceaccount')
  await mountServiceAccount(client, serviceAccountDir)

  /** Starts a replica, waits until it is ready, and routes all requests of the Service to it. */
  async function startReplica(name: string): Promise<OperatorPod> {
    const replica = await startOperatorPod(t, { controlPlane, deployment: stored, serviceAccountDir, directory: directory(name) })
    await until(`${name} is ready`, async () => (await fetch(`${replica.probes}/readyz`)).ok)
    await routeTo(client, replica)
    return replica
  }

  const caOf = ({ data }: Secret): string => Buffer.from(data!['ca.crt']!, 'base64').toString()

  /**
   * Reads the metrics as a ServiceAccount that has the ClusterRole for scrapers. The client verifies the server certificate with the CA of
   * the Secret.
   */
  async function scrape(): Promise<string> {
    await kubectl.ok('create serviceaccount scraper -n default')
    const token = (await kubectl.ok('create token scraper -n default')).trim()
    const get = async (): Promise<{ code: number | undefined; body: string }> => {
      const options = { ca: caOf(ca), servername: 'proreus-webhook.proreus-system.svc', agent: false as const }
      const sent = request(`${replica.metrics}/metrics`, { ...options, headers: { authorization: `Bearer ${token}` } }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return { code: response.statusCode, body: await text(response) }
    }
    t.match(await get(), { code: 403 })
    await kubectl.ok('create clusterrolebinding scraper --clusterrole=proreus-metrics-reader --serviceaccount=default:scraper')
    // The operator caches a denial for 30 seconds, and the first request was denied. The test therefore repeats the request until the
    // operator asks the API server again.
    const body = await until(
      'the permission takes effect',
      async () => ((await get()).code === 200 ? (await get()).body : undefined),
      60_000,
    )
    await kubectl.ok('delete clusterrolebinding scraper')
    return body
  }

  /** Returns the caBundle of each webhook as PEM. */
  async function bundles(): Promise<string[]> {
    const configurations = [
      await client.get(mutatingWebhookConfiguration, { name: 'proreus-mutating' }),
      await client.get(validatingWebhookConfiguration, { name: 'proreus-validating' }),
    ]
    return configurations.flatMap(({ webhooks = [] }) =>
      webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
    )
  }

  /** Waits until the caBundle of each webhook contains the CA of this Secret. `pass` is called before each check. */
  async function untilTrusted(authority: Secret, pass: () => unknown = () => undefined): Promise<void> {
    await until('the authority of the Secret is trusted', async () => {
      await pass()
      return (await bundles()).every((bundle) => bundle.includes(caOf(authority).trim()))
    })
  }

  /**
   * Waits until the API server calls the webhooks at the current endpoint, because the API server notices a change of the endpoints only
   * after some moments. Checks that the webhooks deny an invalid MyPod and accept a valid MyPod.
   */
  async function expectWebhooks(t: Test, name: string): Promise<void> {
    const refusal = await until('the webhooks are called', () =>
      client.create(mypod, mypodNamed(`${name}-bad`, { podLabels: { creator: 'me' } })).then(
        () => undefined,
        (error: Error) => {
          if (!error.message.includes('denied the request')) throw error
          return error.message
        },
      ),
    )
    t.match(refusal, /denied the request: .*spec\.podLabels\[creator\]: Forbidden: the label is set by the operator/)
    await client.create(mypod, mypodNamed(name))
  }

  let replica: OperatorPod
  let ca: Secret
  let live: Pod

  t.test('keeps its certificates in the Secret, and none on disk', async (t) => {
    replica = await startReplica('pod-1')
    ca = await client.get(secret, caSecret)
    t.strictSame(Object.keys(ca.data!).sort(), ['ca.crt', 'ca.key'])
    t.ok(new X509Certificate(caOf(ca)).ca)
    t.strictSame(readdirSync(directory('pod-1'), { recursive: true }), [])
  })

  t.test('makes the API server trust it', async (t) => {
    await untilTrusted(ca)
    t.strictSame(new Set((await bundles()).map((bundle) => bundle.trim())), new Set([caOf(ca).trim()]), 'no other CA is trusted')
  })

  t.test('is called through its Service for objects that kubectl creates', async (t) => {
    await expectWebhooks(t, 'first')
    t.equal(await kubectl.ok('create -f config/samples/mypod.yaml'), 'mypod.harryyann.github.io/mypod-sample created\n')
    await kubectl.ok('wait mypod/mypod-sample -n test-mypod --for=condition=Ready --timeout=20s')
    live = await client.get(pod, sample)
    t.equal(live.status?.phase, 'Running')
    const refused = await kubectl('create -f config/samples/invalid/mypod-several-errors.yaml')
    t.equal(refused.code, 1)
    t.match(refused.stderr, /^The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)
    const metrics = await scrape()
    for (const path of ['mutate', 'validate']) {
      t.match(
        metrics,
        new RegExp(`^controller_runtime_webhook_requests_total\\{webhook="/${path}-harryyann-github-io-v1-mypod",code="200"\\} [1-9]`, 'm'),
      )
    }
  })

  t.test('reconciles the Pod with the MyPod', async (t) => {
    const image = 'example.com/pause:2'
    await client.patch(mypod, sample, {
      spec: { podLabels: { tier: 'one' }, podSpec: { containers: [{ name: 'main', image }] } },
    })
    const changed = await until(
      'the Pod is changed',
      async () => {
        const found = await find(client, pod, sample)
        return found?.spec?.containers[0]?.image === image && found.metadata.deletionTimestamp === undefined && found
      },
      40_000,
    )
    t.match(changed.metadata.labels, { app: 'mypod', tier: 'one', creator: 'mypod-controller' })
    await client.delete(pod, sample)
    live = await until(
      'there is another Pod, which runs',
      async () => {
        const found = await find(client, pod, sample)
        return found !== undefined && found.metadata.uid !== changed.metadata.uid && found.status?.phase === 'Running' && found
      },
      40_000,
    )
    await until('the status tells it', async () => {
      const { status } = await client.get(mypod, sample)
      return status?.podIp === live.status?.podIP && status?.createdTimestamp === Date.parse(live.metadata.creationTimestamp) / 1000
    })
  })

  t.test('changes nothing after a crash and a restart', async (t) => {
    live = await client.get(pod, sample)
    const writesToThePod = async (): Promise<RequestRecord[]> =>
      (await controlPlane.requests()).filter(
        ({ user, verb, path }) => user === serviceAccountUser && verb !== 'get' && path.includes(`/pods/${sample.name}`),
      )
    const writes = await writesToThePod()
    await replica.stop('SIGKILL')
    const before = await bundles()
    replica = await startReplica('pod-2')
    await expectWebhooks(t, 'after-crash')
    await until('it reconciles', async () => (await find(client, pod, { ...sample, name: 'after-crash' })) !== undefined)
    t.strictSame(await client.get(secret, caSecret), ca)
    t.strictSame(await bundles(), before)
    const after = await client.get(pod, sample)
    // The test compares the writes instead of the resourceVersion. In a real cluster, the resourceVersion may change: if the node sends no
    // heartbeats, the control plane changes the status of the Pod.
    t.strictSame(await writesToThePod(), writes, 'the operator has written nothing to the Pod')
    t.strictSame(
      [after.spec, after.metadata.labels, after.metadata.generation],
      [live.spec, live.metadata.labels, live.metadata.generation],
    )
    t.strictSame(identityOf(after), identityOf(live))
  })

  t.test('hands over to the next replica in a rollout, with the same CA', async (t) => {
    const next = await startReplica('pod-3')
    const ended = replica.stop('SIGTERM')
    await until('the old one is no longer ready', async () => !(await fetch(`${replica.probes}/readyz`)).ok)
    await expectWebhooks(t, 'during-rollout')
    t.strictSame(await client.get(secret, caSecret), ca)
    t.equal(await ended, 0)
    replica = next
    await expectWebhooks(t, 'after-rollout')
  })

  t.test('has all permissions that it needs', async (t) => {
    const requests = (await controlPlane.requests()).filter(({ user }) => user === serviceAccountUser)
    t.ok(requests.length > 20, `${requests.length} requests`)
    t.strictSame(
      requests.filter(({ code }) => code === 401 || code === 403),
      [],
    )
  })

  t.test('has no other permissions', async (t) => {
    const may = async (verb: string, group: string, resource: string, name = ''): Promise<boolean> => {
      const resourceAttributes = { verb, group, resource, name, namespace: operatorNamespace }
      const { status } = await client.create(subjectAccessReview, { metadata: {}, spec: { user: serviceAccountUser, resourceAttributes } })
      return status!.allowed
    }
    t.ok(await may('get', '', 'secrets', caSecret.name))
    t.ok(await may('create', '', 'pods'))
    for (const [verb, group, resource, name] of [
      ['get', '', 'secrets'],
      ['get', '', 'secrets', 'other'],
      ['delete', 'harryyann.github.io', 'mypods'],
      ['create', 'rbac.authorization.k8s.io', 'clusterroles'],
      ['patch', 'admissionregistration.k8s.io', 'mutatingwebhookconfigurations', 'other'],
    ] as const)
      t.notOk(await may(verb, group, resource, name), `${verb} ${resource} ${name ?? ''}`)
  })

  t.test('creates a new CA after a start without the Secret, which the API server then trusts', async (t) => {
    await replica.stop('SIGKILL')
    await client.delete(secret, caSecret)
    replica = await startReplica('pod-4')
    const made = await client.get(secret, caSecret)
    t.not(caOf(made), caOf(ca))
    await untilTrusted(made)
    await expectWebhooks(t, 'new-authority')
    ca = made
  })

  t.test('restores a Secret or caBundle that is deleted while it runs', async (t) => {
    await replica.stop('SIGKILL')
    // This operator runs in the process of the test, because it needs a fake clock. The API server does not call the webhooks of this
    // operator.
    const clock = new FakeClock(Date.now())
    const stop = new AbortController()
    const ready = Promise.withResolvers<void>()
    const { hostname, port } = new URL(controlPlane.connection.server)
    const done = run([mypodOperator], {
      connection: await loadConnection({
        env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
        inClusterRoot: serviceAccountDir,
      }),
      name: 'proreus',
      signal: stop.signal,
      certificates: { kind: 'secret', ...caSecret },
      webhook: { host: '127.0.0.1', port: 0 },
      probeBindAddress: '0',
      metricsBindAddress: '0',
      drainDelayMs: 0,
      logger: silentLogger(),
      clock,
      onStarted: () => ready.resolve(),
    })
    done.catch((error: unknown) => ready.reject(error))
    let hasEnded = false
    void done.catch(() => undefined).then(() => (hasEnded = true))
    const end = async (): Promise<void> => {
      stop.abort()
      // The fake clock advances until the grace periods of the shutdown have passed.
      await until('the operator has ended', async () => {
        await clock.advance(1000)
        return hasEnded
      })
      await done
    }
    t.teardown(end)
    await ready.promise
    await client.delete(secret, caSecret)
    const back = await until('the Secret is back', async () => {
      await clock.advance(60_000)
      return find(client, secret, caSecret)
    })
    t.equal(caOf(back), caOf(ca), 'the CA that is already trusted is kept')

    const lost = [{ op: 'remove' as const, path: '/webhooks/0/clientConfig/caBundle' }]
    await client.patch(validatingWebhookConfiguration, { name: 'proreus-validating' }, lost, { type: 'json' })
    await untilTrusted(ca, () => clock.advance(10_000))
    await end()
    replica = await startReplica('pod-5')
    await expectWebhooks(t, 'put-back')
  })

  t.test('is deleted with its MyPods and their Pods', async (t) => {
    await whenCollected(client)
    await deleteInstallation(kubectl)
    const left = async (): Promise<Pod[]> => [...(await client.list(pod, { namespace: sample.namespace })).items]
    await until('the Pods are gone', async () => (await left()).length === 0, 90_000).catch(async () =>
      t.strictSame(
        (await left()).map(({ metadata }) => metadata),
        [],
      ),
    )
    t.equal((await kubectl(`get -k ${installation} -o name`)).stdout, '')
    t.ok((await fetch(`${replica.probes}/healthz`)).ok, 'the process keeps running and waits for the definitions')
  })
})
