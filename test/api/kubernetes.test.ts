/** Tests of the declarations of Kubernetes' built-in types. The expected types are those that `kubectl api-resources` lists. */
import t from 'tap'
import * as builtin from '../../src/api/builtin.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import * as proreus from '../../src/index.ts'

/** The types of each group as `NAME APIVERSION KIND PLURAL`, with a `*` at the end for cluster-scoped types. */
const types = {
  admissionregistration: [
    'mutatingAdmissionPolicy admissionregistration.k8s.io/v1 MutatingAdmissionPolicy mutatingadmissionpolicies *',
    'mutatingAdmissionPolicyBinding admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings *',
    'mutatingWebhookConfiguration admissionregistration.k8s.io/v1 MutatingWebhookConfiguration mutatingwebhookconfigurations *',
    'validatingAdmissionPolicy admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy validatingadmissionpolicies *',
    'validatingAdmissionPolicyBinding admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings *',
    'validatingWebhookConfiguration admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration validatingwebhookconfigurations *',
  ],
  apiextensions: ['customResourceDefinition apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions *'],
  apiregistration: ['apiService apiregistration.k8s.io/v1 APIService apiservices *'],
  apps: [
    'controllerRevision apps/v1 ControllerRevision controllerrevisions',
    'daemonSet apps/v1 DaemonSet daemonsets',
    'deployment apps/v1 Deployment deployments',
    'replicaSet apps/v1 ReplicaSet replicasets',
    'statefulSet apps/v1 StatefulSet statefulsets',
  ],
  authentication: [
    'selfSubjectReview authentication.k8s.io/v1 SelfSubjectReview selfsubjectreviews *',
    'tokenReview authentication.k8s.io/v1 TokenReview tokenreviews *',
  ],
  authorization: [
    'localSubjectAccessReview authorization.k8s.io/v1 LocalSubjectAccessReview localsubjectaccessreviews',
    'selfSubjectAccessReview authorization.k8s.io/v1 SelfSubjectAccessReview selfsubjectaccessreviews *',
    'selfSubjectRulesReview authorization.k8s.io/v1 SelfSubjectRulesReview selfsubjectrulesreviews *',
    'subjectAccessReview authorization.k8s.io/v1 SubjectAccessReview subjectaccessreviews *',
  ],
  autoscaling: ['horizontalPodAutoscaler autoscaling/v2 HorizontalPodAutoscaler horizontalpodautoscalers'],
  batch: ['cronJob batch/v1 CronJob cronjobs', 'job batch/v1 Job jobs'],
  certificates: ['certificateSigningRequest certificates.k8s.io/v1 CertificateSigningRequest certificatesigningrequests *'],
  coordination: ['lease coordination.k8s.io/v1 Lease leases'],
  core: [
    'configMap v1 ConfigMap configmaps',
    'endpoints v1 Endpoints endpoints',
    'event v1 Event events',
    'limitRange v1 LimitRange limitranges',
    'namespace v1 Namespace namespaces *',
    'node v1 Node nodes *',
    'persistentVolume v1 PersistentVolume persistentvolumes *',
    'persistentVolumeClaim v1 PersistentVolumeClaim persistentvolumeclaims',
    'pod v1 Pod pods',
    'podTemplate v1 PodTemplate podtemplates',
    'replicationController v1 ReplicationController replicationcontrollers',
    'resourceQuota v1 ResourceQuota resourcequotas',
    'secret v1 Secret secrets',
    'service v1 Service services',
    'serviceAccount v1 ServiceAccount serviceaccounts',
  ],
  discovery: ['endpointSlice discovery.k8s.io/v1 EndpointSlice endpointslices'],
  events: ['event events.k8s.io/v1 Event events'],
  flowcontrol: [
    'flowSchema flowcontrol.apiserver.k8s.io/v1 FlowSchema flowschemas *',
    'priorityLevelConfiguration flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration prioritylevelconfigurations *',
  ],
  networking: [
    'ingress networking.k8s.io/v1 Ingress ingresses',
    'ingressClass networking.k8s.io/v1 IngressClass ingressclasses *',
    'ipAddress networking.k8s.io/v1 IPAddress ipaddresses *',
    'networkPolicy networking.k8s.io/v1 NetworkPolicy networkpolicies',
    'serviceCIDR networking.k8s.io/v1 ServiceCIDR servicecidrs *',
  ],
  node: ['runtimeClass node.k8s.io/v1 RuntimeClass runtimeclasses *'],
  policy: ['podDisruptionBudget policy/v1 PodDisruptionBudget poddisruptionbudgets'],
  rbac: [
    'clusterRole rbac.authorization.k8s.io/v1 ClusterRole clusterroles *',
    'clusterRoleBinding rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings *',
    'role rbac.authorization.k8s.io/v1 Role roles',
    'roleBinding rbac.authorization.k8s.io/v1 RoleBinding rolebindings',
  ],
  resource: [
    'deviceClass resource.k8s.io/v1 DeviceClass deviceclasses *',
    'resourceClaim resource.k8s.io/v1 ResourceClaim resourceclaims',
    'resourceClaimTemplate resource.k8s.io/v1 ResourceClaimTemplate resourceclaimtemplates',
    'resourceSlice resource.k8s.io/v1 ResourceSlice resourceslices *',
  ],
  scheduling: ['priorityClass scheduling.k8s.io/v1 PriorityClass priorityclasses *'],
  storage: [
    'csiDriver storage.k8s.io/v1 CSIDriver csidrivers *',
    'csiNode storage.k8s.io/v1 CSINode csinodes *',
    'csiStorageCapacity storage.k8s.io/v1 CSIStorageCapacity csistoragecapacities',
    'storageClass storage.k8s.io/v1 StorageClass storageclasses *',
    'volumeAttachment storage.k8s.io/v1 VolumeAttachment volumeattachments *',
    'volumeAttributesClass storage.k8s.io/v1 VolumeAttributesClass volumeattributesclasses *',
  ],
} as const

for (const [group, expected] of Object.entries(types)) {
  t.test(`the types of ${group} have the paths of the API server`, async (t) => {
    const found = proreus[group as keyof typeof types] as Readonly<Record<string, proreus.ResourceType>>
    t.strictSame(
      Object.entries(found)
        .map(([name, { group, version, kind, plural, namespaced }]) =>
          [name, group === '' ? version : `${group}/${version}`, kind, plural, ...(namespaced ? [] : ['*'])].join(' '),
        )
        .sort(),
      expected,
    )
    for (const type of Object.values(found)) t.ok(Object.isFrozen(type))
  })
}

t.test('bare names and names in groups are the same types', async (t) => {
  const { core, apps, coordination, apiextensions, admissionregistration, authorization } = proreus
  t.strictSame(
    new Map(Object.entries(builtin)),
    new Map<string, unknown>(
      Object.entries({
        configMap: core.configMap,
        customResourceDefinition: apiextensions.customResourceDefinition,
        deployment: apps.deployment,
        event: core.event,
        lease: coordination.lease,
        mutatingWebhookConfiguration: admissionregistration.mutatingWebhookConfiguration,
        namespace: core.namespace,
        node: core.node,
        pod: core.pod,
        secret: core.secret,
        service: core.service,
        serviceAccount: core.serviceAccount,
        subjectAccessReview: authorization.subjectAccessReview,
        validatingWebhookConfiguration: admissionregistration.validatingWebhookConfiguration,
      }),
    ),
  )
})

t.test('a declared type is namespaced by default', async (t) => {
  const names = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' }
  t.strictSame(resourceType(names), { namespaced: true, ...names })
  t.equal(resourceType({ ...names, namespaced: false }).namespaced, false)
})
