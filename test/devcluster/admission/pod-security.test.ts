import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { withPodSecurity } from '../../../src/devcluster/admission/pod-security.ts'
import { fixture, refusal } from '../../support/devcluster-registry.ts'

const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const container = (name: string, context: JsonObject = securityContext): JsonObject => ({ name, image: 'x', securityContext: context })
const podWith = (more: JsonObject): JsonObject => ({
  metadata: { name: 'a', namespace: 'default' },
  spec: { securityContext: restricted, containers: [container('main')], ...more },
})

t.test('an update may bring no container that the namespace does not want', async (t) => {
  const f = await fixture()
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const admission = withPodSecurity(admitAll, { namespaceLabels: () => labels, podsIn: () => [] })
  const update = (object: JsonObject, oldObject = podWith({})): Promise<void> =>
    admission.validate({
      info: f.info('pods'),
      subresource: '',
      operation: 'UPDATE',
      namespace: 'default',
      name: 'a',
      object,
      oldObject,
      context: f.context,
    })
  for (const field of ['ephemeralContainers', 'initContainers']) {
    const bad = podWith({ [field]: [container('b', {})] })
    const message = /violates PodSecurity "restricted:latest": .*container "b" must set/
    t.match(await refusal(() => update(bad)), { code: 403, message }, field)
    await t.resolves(update(podWith({ [field]: [container('b')] })), `${field} that are restricted`)
    await t.resolves(update({ ...bad, metadata: { ...(bad.metadata as JsonObject), labels: { a: 'b' } } }, bad), `${field} that were there`)
  }
})
