/** Tests of kubectl's output for Pods, nodes and namespaces in a cluster whose controllers run. */
import t from 'tap'
import { steady } from '../support/conformance/kubectl.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-kubectl-cluster'
const ns = `-n ${namespace}`

function pod(name: string, owner = ''): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: ${namespace}, labels: { app: ${name} }${owner} }
spec: { containers: [{ name: main, image: 'example.com/app:1' }] }
`
}

t.test('kubectl with running Pods', needsKubectl, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const { ok } = kubectl

  t.test('kubectl waits for, gets and describes Pods', async (t) => {
    t.equal(await ok('create -f -', pod('runs')), 'pod/runs created\n')
    t.equal(await ok(`wait --for=condition=Ready pod/runs ${ns} --timeout=20s`), 'pod/runs condition met\n')
    t.equal(steady(await ok(`get pods ${ns}`)), 'NAME  READY  STATUS  RESTARTS  AGE\nruns  1/1  Running  0  AGE\n')
    t.match(
      steady(await ok(`get pods ${ns} -o wide`)),
      /^NAME {2}READY {2}STATUS {2}RESTARTS {2}AGE {2}IP {2}NODE {2}NOMINATED NODE {2}READINESS GATES\nruns {2}1\/1 {2}Running {2}0 {2}AGE {2}10\.244\.[\d.]+ {2}proreus-node {2}<none> {2}<none>\n$/,
    )
    t.equal(await ok(`get pods ${ns} --field-selector status.phase=Running -o name`), 'pod/runs\n')
    t.match(
      await kubectl.until(`describe pod runs ${ns}`, (stdout) => stdout.includes('Scheduled')),
      new RegExp(`Normal +Scheduled +\\d+s +default-scheduler +Successfully assigned ${namespace}/runs to proreus-node`),
    )
    t.match(await ok(`events ${ns} --for pod/runs`), /Normal +Scheduled +Pod\/runs +Successfully assigned/)
    t.match(
      steady(await ok('get nodes')),
      /^NAME {2}STATUS {2}ROLES {2}AGE {2}VERSION\nproreus-node {2}Ready {2}<none> {2}AGE {2}v1\.36\.\S+\n$/,
    )
  })

  t.test('Pods are deleted by force, gracefully, or with their owner', async (t) => {
    for (const name of ['forced', 'graceful']) await ok('create -f -', pod(name))
    await ok(`wait --for=condition=Ready pod/forced pod/graceful ${ns} --timeout=20s`)
    const { stdout, stderr } = await kubectl(`delete pod forced ${ns} --grace-period=0 --force`)
    t.equal(stdout, `pod "forced" force deleted from ${namespace} namespace\n`)
    t.match(stderr, /^Warning: Immediate deletion does not wait for confirmation/)
    t.equal(await ok(`delete pod graceful ${ns} --now`), `pod "graceful" deleted from ${namespace} namespace\n`)
    await ok('create -f -', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner","namespace":"${namespace}"}}`)
    const uid = await ok(`get cm owner ${ns} -o jsonpath={.metadata.uid}`)
    await ok('create -f -', pod('owned', `, ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: owner, uid: ${uid} }]`))
    t.equal(await ok(`delete cm owner ${ns} --cascade=foreground`), `configmap "owner" deleted from ${namespace} namespace\n`)
    await until('the Pod has gone with its owner', async () => (await ok(`get pods ${ns} -o name`)) === 'pod/runs\n')
  })

  t.test('a namespace is deleted with its content', async (t) => {
    t.equal(await ok(`delete ns ${namespace} --timeout=30s`), `namespace "${namespace}" deleted\n`)
    t.equal(await ok(`get pods ${ns} -o name --ignore-not-found`), '')
    t.equal((await kubectl(`get ns ${namespace}`)).stderr, `Error from server (NotFound): namespaces "${namespace}" not found\n`)
  })
})
