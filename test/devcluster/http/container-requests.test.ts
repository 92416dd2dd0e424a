/** Tests of requests that need a container: logs, exec, attach, portforward and proxy of simulated Pods. */
import { join } from 'node:path'
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { notFound } from '../../../src/devcluster/apimachinery/status-error.ts'
import { kubectlOf, startTestCluster } from '../../support/devcluster/kubectl.ts'
import { foo, startTestServer } from '../../support/devcluster/http-server.ts'
import { finished, kubectlPath, needsKubectl, splitArguments } from '../../support/process/process.ts'

const foos = '/apis/a.example.com/v1/namespaces/default/foos'
const pods = '/api/v1/namespaces/default/pods'
const simulated = 'Pods of the embedded cluster are simulated and run no containers'

t.test('the log of a Pod explains that Pods are simulated, and is refused for a Pod that is missing or unscheduled', async (t) => {
  let where: JsonObject = {}
  const { send } = await startTestServer(t, {
    registry: {
      get: (info, key) => {
        if (key.name !== 'a') throw notFound(info, key.name)
        return foo('a', where)
      },
    },
  })
  t.match(await send(`${pods}/b/log`), { code: 404, json: { message: 'pods "b" not found' } })
  t.match(await send(`${pods}/a/log`), { code: 204, text: '' })
  const elsewhere = 'the server could not find the requested resource'
  for (const [path, message] of [
    [`${foos}/a/log`, 'foos.a.example.com "a" not found'],
    ['/api/v1/namespaces/a/log', elsewhere],
    ['/api/v1/pods/a/log', elsewhere],
    [`${pods}/a/log/more`, elsewhere],
    [`${pods}/a/exec/more`, elsewhere],
  ] as const)
    t.match(await send(path), { code: 404, json: { message } }, path)
  t.match(await send(`${pods}/a/log`, { method: 'PUT', body: '{}' }), { code: 404, json: { message: elsewhere } })
  where = { nodeName: 'one' }
  const text = `${simulated}: there are no logs\n`
  t.match(await send(`${pods}/a/log`), { code: 200, text, headers: { 'content-type': /^text\/plain/ } })
  const { text: stamped } = await send(`${pods}/a/log?timestamps=true`)
  t.match(stamped, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z Pods of /)
})

const refused = (subresource: string): string => `${simulated}: ${subresource} is not available\n`

t.test('kubectl prints that Pods are simulated, with WebSockets and with SPDY', { ...needsKubectl, timeout: 60_000 }, async (t) => {
  const kubectl = kubectlOf(t, await startTestCluster(t))
  await kubectl.ok('run p --image=nginx --port=80 --expose')
  await kubectl.ok('wait --for=condition=Ready pod/p --timeout=20s')
  t.match(await kubectl('logs p'), { code: 0, stdout: `${simulated}: there are no logs\n`, stderr: '' })
  for (const [args, message] of [
    ['get --raw /api/v1/namespaces/default/pods/p/proxy/healthz', refused('pods/proxy')],
    ['get --raw /api/v1/namespaces/default/services/p:80/proxy/', refused('services/proxy')],
    ['get --raw /api/v1/nodes/proreus-node/proxy/stats/summary', refused('nodes/proxy')],
  ] as const)
    t.match(await kubectl(args), { code: 1, stdout: '', stderr: `Error from server (NotImplemented): ${message}` }, args)
  const kubeconfig = join(t.testdirName, 'kubeconfig')
  for (const webSockets of ['true', 'false']) {
    const variables = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSockets, KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets }
    const env = { ...process.env, ...variables, HOME: t.testdirName, KUBECONFIG: kubeconfig }
    for (const [args, message] of [
      ['exec p -- ls', refused('exec')],
      ['attach p', refused('attach')],
      ['cp p:/etc/hosts /dev/null', refused('exec')],
      ['port-forward p :80', refused('portforward')],
      ['port-forward service/p :80', refused('portforward')],
    ] as const) {
      // The text before the message depends on the release of kubectl.
      const { code, stderr } = await finished(kubectlPath ?? 'kubectl', splitArguments(args), { env })
      t.strictSame([code, stderr.endsWith(message) ? message : stderr], [1, message], `${args} with WebSockets: ${webSockets}`)
    }
  }
})
