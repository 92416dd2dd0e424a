/** The installation in a cluster: `config/default` with the real kubectl, and its Deployment's process with the rights that it grants. */
import { X509Certificate } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  deployment,
  mutatingWebhookConfiguration,
  pod,
  secret,
  validatingWebhookConfiguration,
  type Pod,
  type Secret,
} from '../../src/api/builtin.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { run } from '../../src/manager/run.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { clientFor, find } from '../support/devcluster-client.ts'
import { kubectlOf, startTestCluster } from '../support/devcluster-kubectl.ts'
import {
  operatorNamespace,
  podEnvironment,
  rendered,
  serviceAccountOf,
  serviceAccountUser,
  startOperatorPod,
  type OperatorPod,
} from '../support/installation.ts'
import { mypodNamed } from '../support/mypod-world.ts'
import { needsKubectl, until } from '../support/process.ts'

const installation = 'config/default'
const caSecret = { namespace: operatorNamespace, name: 'proreus-webhook-ca' }

t.test('config/default is created, shown and deleted', needsKubectl, async (t) => {
  const manifests = await rendered(installation)
  const cluster = await startTestCluster(t)
  const kubectl = kubectlOf(t, cluster)

  const created = await kubectl.ok(`create -k ${installation}`)
  t.match(created, /^namespace\/proreus-system created$/m)
  t.match(created, /^customresourcedefinition\.apiextensions\.k8s\.io\/mypods\.harryyann\.github\.io created$/m)
  t.match(created, /^deployment\.apps\/proreus created$/m)
  t.equal(created.trim().split('\n').length, manifests.length)

  const names = (await kubectl.ok(`get -k ${installation} -o name`)).trim().split('\n')
  t.strictSame(names.map((name) => name.split('/')[1]).sort(), manifests.map(({ metadata }) => metadata.name).sort())
  t.match(await kubectl.ok('get deployment proreus -n proreus-system'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nproreus +0\/1 /)
  t.match((await kubectl(`create -k ${installation}`)).stderr, /deployments\.apps "proreus" already exists/)

  await kubectl.ok(`delete -k ${installation} --timeout=20s`)
  const after = await kubectl(`get -k ${installation} -o name`)
  t.equal(after.stdout, '')
  t.equal(after.stderr.match(/NotFound|doesn't have a resource type|no matches for kind/g)?.length, manifests.length, after.stderr)
})

t.test('the process of the Deployment', needsKubectl, async (t) => {
  const account = serviceAccountOf(await rendered(installation))
  const cluster = await startTestCluster(t, { users: [account] })
  const client = clientFor(t, cluster.connection)
  const kubectl = kubectlOf(t, cluster)
  const directory = (name: string): string => join(t.testdirName, name)
  await kubectl.ok(`create -k ${installation}`)
  const stored = await client.get(deployment, { namespace: operatorNamespace, name: 'proreus' })
  const environment = await podEnvironment(cluster, client, account.token, directory('serviceaccount'))

  /** Starts a replica, which gets the requests of the Service from when it is ready, as of all older ones none. */
  async function startReplica(name: string): Promise<OperatorPod> {
    const replica = await startOperatorPod(stored, environment, directory(name))
    t.teardown(() => replica.stop('SIGKILL'))
    await until(`${name} is ready`, async () => (await fetch(`${replica.probes}/readyz`)).ok)
    cluster.addService(`${operatorNamespace}/proreus-webhook`, replica.webhook)
    return replica
  }

  const caOf = ({ data }: Secret): string => Buffer.from(data!['ca.crt']!, 'base64').toString()

  /** What the API server trusts for each webhook. */
  async function bundles(): Promise<string[]> {
    const configurations = [
      await client.get(mutatingWebhookConfiguration, { name: 'proreus-mutating' }),
      await client.get(validatingWebhookConfiguration, { name: 'proreus-validating' }),
    ]
    return configurations.flatMap(({ webhooks = [] }) =>
      webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()),
    )
  }

  /** Waits until the API server trusts this authority for each webhook. */
  async function untilTrusted(authority: Secret, pass: () => unknown = () => undefined): Promise<void> {
    await until('the authority of the Secret is trusted', async () => {
      await pass()
      return (await bundles()).every((bundle) => bundle.includes(caOf(authority).trim()))
    })
  }

  /** A MyPod goes through the webhooks, and an invalid one does not. */
  async function expectWebhooks(t: Test, name: string): Promise<void> {
    await client.create(mypod, mypodNamed(name))
    await t.rejects(client.create(mypod, mypodNamed(`${name}-bad`, { podLabels: { creator: 'me' } })), {
      message: /denied the request: .*spec\.podLabels\[creator\]: Forbidden: the label is set by the operator/,
    })
  }

  let replica: OperatorPod
  let ca: Secret
  let sample: Pod

  t.test('keeps its certificates in the Secret, and none on disk', async (t) => {
    replica = await startReplica('pod-1')
    ca = await client.get(secret, caSecret)
    t.strictSame(Object.keys(ca.data!).sort(), ['ca.crt', 'ca.key'])
    t.ok(new X509Certificate(caOf(ca)).ca)
    t.strictSame(readdirSync(directory('pod-1'), { recursive: true }), [])
  })

  t.test('makes the API server trust it', async (t) => {
    await untilTrusted(ca)
    t.strictSame(new Set((await bundles()).map((bundle) => bundle.trim())), new Set([caOf(ca).trim()]), 'and nobody else')
  })

  t.test('is asked through its Service about what kubectl creates', async (t) => {
    t.equal(await kubectl.ok('create -f config/samples/mypod.yaml'), 'mypod.harryyann.github.io/mypod-sample created\n')
    await kubectl.ok('wait mypod/mypod-sample -n test-mypod --for=condition=Ready --timeout=10s')
    sample = await client.get(pod, { namespace: 'test-mypod', name: 'mypod-sample' })
    t.equal(sample.status?.phase, 'Running')
    const refused = await kubectl('create -f config/samples/invalid/mypod-several-errors.yaml')
    t.equal(refused.code, 1)
    t.match(refused.stderr, /^The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)
    const metrics = await (await fetch(`${replica.metrics}/metrics`)).text()
    for (const path of ['mutate', 'validate']) {
      t.match(
        metrics,
        new RegExp(`^controller_runtime_webhook_requests_total\\{webhook="/${path}-harryyann-github-io-v1-mypod",code="200"\\} [1-9]`, 'm'),
      )
    }
  })

  t.test('started again after a crash, it changes nothing', async (t) => {
    await replica.stop('SIGKILL')
    const before = await bundles()
    replica = await startReplica('pod-2')
    await expectWebhooks(t, 'after-crash')
    await until('it reconciles', async () => (await find(client, pod, { namespace: 'test-mypod', name: 'after-crash' })) !== undefined)
    t.strictSame(await client.get(secret, caSecret), ca)
    t.strictSame(await bundles(), before)
    const { metadata } = await client.get(pod, { namespace: 'test-mypod', name: 'mypod-sample' })
    t.strictSame(metadata, sample.metadata)
  })

  t.test('in a rollout the next one takes over with the same authority', async (t) => {
    const next = await startReplica('pod-3')
    const ended = replica.stop('SIGTERM')
    await until('the old one is no longer ready', async () => !(await fetch(`${replica.probes}/readyz`)).ok)
    await expectWebhooks(t, 'during-rollout')
    t.strictSame(await client.get(secret, caSecret), ca)
    t.equal(await ended, 0)
    replica = next
    await expectWebhooks(t, 'after-rollout')
  })

  t.test('has all permissions that it needs', (t) => {
    const requests = cluster.requests.filter(({ user }) => user === serviceAccountUser)
    t.ok(requests.length > 20)
    t.strictSame(
      requests.filter(({ code }) => code === 401 || code === 403),
      [],
    )
    t.end()
  })

  t.test('a new start without the Secret makes a new authority, and the API server trusts it', async (t) => {
    await replica.stop('SIGKILL')
    await client.delete(secret, caSecret)
    replica = await startReplica('pod-4')
    const made = await client.get(secret, caSecret)
    t.not(caOf(made), caOf(ca))
    await untilTrusted(made)
    await expectWebhooks(t, 'new-authority')
    ca = made
  })

  t.test('a Secret or caBundle that is lost while it runs is put back', async (t) => {
    await replica.stop('SIGKILL')
    // In this process, where a minute passes when the test says so.
    const clock = new FakeClock(Date.now())
    const stop = new AbortController()
    const ready = Promise.withResolvers<void>()
    const done = run([mypodOperator], {
      connection: await loadConnection({ env: environment.env, inClusterRoot: environment.serviceAccountDir }),
      signal: stop.signal,
      certificates: { kind: 'secret', ...caSecret },
      webhook: { host: '127.0.0.1', port: 0 },
      probeBindAddress: '0',
      metricsBindAddress: '0',
      drainDelayMs: 0,
      logger: silentLogger(),
      clock,
      onStarted({ webhook }) {
        cluster.addService(`${operatorNamespace}/proreus-webhook`, webhook!.url)
        ready.resolve()
      },
    })
    done.catch((error: unknown) => ready.reject(error))
    t.teardown(async () => {
      stop.abort()
      await done
    })
    await ready.promise
    await client.delete(secret, caSecret)
    const back = await until('the Secret is back', async () => {
      await clock.advance(60_000)
      return find(client, secret, caSecret)
    })
    t.equal(caOf(back), caOf(ca), 'with the authority that is trusted already')

    await client.patch(
      validatingWebhookConfiguration,
      { name: 'proreus-validating' },
      [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }],
      {
        type: 'json',
      },
    )
    await untilTrusted(ca, () => clock.advance(10_000))
    await expectWebhooks(t, 'put-back')
  })

  t.test('deleted again, the installation takes the MyPods and their Pods along', async (t) => {
    replica = await startReplica('pod-5')
    await kubectl.ok(`delete -k ${installation} --timeout=30s`)
    await until('the Pods are gone', async () => (await client.list(pod, { namespace: 'test-mypod' })).items.length === 0)
    t.equal((await kubectl(`get -k ${installation} -o name`)).stdout, '')
    t.ok((await fetch(`${replica.probes}/healthz`)).ok, 'the process waits for them to come back')
  })
})
