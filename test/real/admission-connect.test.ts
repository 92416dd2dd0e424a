/** Tests of features that only a real API server supports: CONNECT requests such as `kubectl exec`, and audit annotations of webhooks. */
import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import { failure } from '../../src/api/status.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'

const namespace = 'admission-connect'
const operator = defineOperator({
  name: 'watchman',
  kinds: [],
  webhooks: [
    defineWebhook(pod, {
      subresource: 'exec',
      default: (options) => (options.container === undefined ? { ...options, container: 'main' } : options),
      validateInCluster({ command, container }, old, { name, operation, user, audit }) {
        audit('command', command.join(' '))
        return command[0] === 'rm'
          ? failure(403, 'Forbidden', `${user.username}: no ${operation} of ${name}/${container}, ${typeof old}`)
          : []
      },
    }),
    defineWebhook(configMap, {
      validate(object, _old, { audit }) {
        audit('keys', String(Object.keys(object.data ?? {}).length))
        return []
      },
    }),
  ],
})

const controlPlane = await startControlPlane({ backend: 'binaries', controllers: false, namespaces: [namespace], users: [] })
t.teardown(() => controlPlane.stop())
const api = apiOf(t, controlPlane.connection)
await controlPlane.startOperator([operator])
const core = `/api/v1/namespaces/${namespace}`

t.test('a webhook is called for kubectl exec with PodExecOptions', async (t) => {
  const refused = await until('the webhook is called', async () => {
    const answer = await api('POST', `${core}/pods/p/exec?command=rm&command=x&stdout=true`)
    return answer.status === 403 && answer
  })
  t.match(
    refused.body.message,
    /^admission webhook "validate-pod-exec-v1\.core\.watchman" denied the request: \S+: no CONNECT of p\/main, undefined$/,
  )
  t.equal((await api('POST', `${core}/pods/p/exec?command=ls&stdout=true`)).status, 404, 'the request is allowed, and the Pod is missing')
})

t.test('audit annotations of allowed and denied requests are in the audit log', async (t) => {
  t.equal((await api('POST', `${core}/configmaps`, { body: { metadata: { name: 'c' }, data: { a: '1', b: '2' } } })).status, 201)
  const annotations = await until('the requests are logged', async () => {
    const all = (await controlPlane.requests()).flatMap((request) => Object.entries(request.annotations ?? {}))
    const ours = all.filter(([key]) => key.includes('.watchman/')).map(([key, value]) => `${key}=${value}`)
    return ours.some((line) => line.includes('keys=')) && ours
  })
  for (const line of ['validate-pod-exec-v1.core.watchman/command=rm x', 'validate-configmap-v1.core.watchman/keys=2'])
    t.ok(annotations.includes(line), line)
})
