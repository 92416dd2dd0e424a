/**
 * Tests of the transcript in the README: `proreus dev` and the first kubectl commands. test/conformance tests the other kubectl commands.
 */
import t from 'tap'
import { startDev } from '../support/process/dev.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

const sample = 'config/samples/mypod.yaml'
const ns = '-n test-mypod'

t.test('kubectl on proreus dev', needsKubectl, async (t) => {
  const { kubectl, ok } = await startDev(t)

  t.test('prints the transcript of the README', async (t) => {
    t.equal(await ok(`create -f ${sample}`), 'mypod.harryyann.github.io/mypod-sample created\n')
    await ok(`wait mypod/mypod-sample ${ns} --for=condition=Ready --timeout=10s`)
    const wide = (await ok('get mypods -A -o wide')).split('\n')
    t.match(wide[0], /^NAMESPACE +NAME +PHASE +PODIP +NODEIP +AGE$/)
    t.match(wide[1], /^test-mypod +mypod-sample +Running +10\.244\.\d+\.\d+ +[\d.]+ +\d+s$/)
    const pods = await ok('get pods -A')
    t.match(pods, /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\ntest-mypod +mypod-sample +1\/1 +Running +0 +\d+s\n$/)
    const pod = JSON.parse(await ok(`get pod mypod-sample ${ns} -o json`)) as { metadata: Record<string, unknown> }
    t.match(pod.metadata, {
      labels: { app: 'mypod', creator: 'mypod-controller' },
      annotations: { app: 'mypod' },
      ownerReferences: [
        { apiVersion: 'harryyann.github.io/v1', kind: 'MyPod', name: 'mypod-sample', controller: true, blockOwnerDeletion: true },
      ],
    })
    const refused = await kubectl('create -f config/samples/invalid/mypod-several-errors.yaml')
    t.equal(refused.code, 1)
    t.match(refused.stderr, /^The MyPod "mypod-several-errors" is invalid: \n(\* spec\..*\n){2,}$/)
    t.equal(await ok(`delete mypod mypod-sample ${ns}`), 'mypod.harryyann.github.io "mypod-sample" deleted from test-mypod namespace\n')
    await until('the Pod is gone', async () => (await ok(`get pods ${ns} -o name`)) === '')
  })
})
