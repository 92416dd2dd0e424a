import { anyResource, core, defineOperator, defineWebhook, failure, forbidden } from 'proreus'
import { site } from './site.ts'

export const operator = defineOperator({
  name: 'policies',
  kinds: [],
  webhooks: [
    // A second webhook handler for Sites, in addition to the handler in `site.ts`. If both handlers report errors, the response contains
    // the errors of both handlers.
    defineWebhook(site, {
      reads: [core.namespace],
      validateInCluster({ metadata }, _old, { cache }) {
        const labels = cache.get(core.namespace, { name: metadata.namespace })?.metadata.labels
        return labels?.['sites'] === 'closed' ? [forbidden('metadata.namespace', 'takes no more Sites')] : []
      },
    }),
    // A webhook for a built-in type.
    defineWebhook(core.pod, {
      operations: ['CREATE'],
      matchConditions: [{ name: 'not-by-nodes', expression: "!('system:nodes' in request.userInfo.groups)" }],
      namespaceSelector: { matchLabels: { pods: 'checked' } },
      timeoutSeconds: 3,
      validate: ({ spec }) => (spec?.hostNetwork === true ? [forbidden('spec.hostNetwork', 'is not for this cluster')] : []),
    }),
    // A webhook for the requests of `kubectl exec`.
    defineWebhook(core.pod, {
      subresource: 'exec',
      validateInCluster: ({ command, tty }, _old, { user }) =>
        tty === true || command[0] === 'sh' ? failure(403, 'Forbidden', `no shells for ${user.username}`) : [],
    }),
    // A webhook for the scale subresource of all types.
    defineWebhook(anyResource, {
      subresource: 'scale',
      validate: ({ spec }) => ((spec?.replicas ?? 0) > 20 ? [forbidden('spec.replicas', 'ask for more than 20 first')] : []),
    }),
  ],
})
