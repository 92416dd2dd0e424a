import { anyResource, core, defineOperator, defineWebhook, failure, forbidden } from 'proreus'
import { site } from './site.ts'

export const operator = defineOperator({
  name: 'policies',
  kinds: [],
  webhooks: [
    // A second handler for Sites: its errors come with those of the first.
    defineWebhook(site, {
      reads: [core.namespace],
      validateInCluster({ metadata }, _old, { cache }) {
        const labels = cache.get(core.namespace, { name: metadata.namespace })?.metadata.labels
        return labels?.['sites'] === 'closed' ? [forbidden('metadata.namespace', 'takes no more Sites')] : []
      },
    }),
    // A type that is not ours.
    defineWebhook(core.pod, {
      operations: ['CREATE'],
      matchConditions: [{ name: 'not-by-nodes', expression: "!('system:nodes' in request.userInfo.groups)" }],
      namespaceSelector: { matchLabels: { pods: 'checked' } },
      timeoutSeconds: 3,
      validate: ({ spec }) => (spec?.hostNetwork === true ? [forbidden('spec.hostNetwork', 'is not for this cluster')] : []),
    }),
    // kubectl exec.
    defineWebhook(core.pod, {
      subresource: 'exec',
      validateInCluster: ({ command, tty }, _old, { user }) =>
        tty === true || command[0] === 'sh' ? failure(403, 'Forbidden', `no shells for ${user.username}`) : [],
    }),
    // The scale of whatever has one.
    defineWebhook(anyResource, {
      subresource: 'scale',
      validate: ({ spec }) => ((spec?.replicas ?? 0) > 20 ? [forbidden('spec.replicas', 'ask for more than 20 first')] : []),
    }),
  ],
})
