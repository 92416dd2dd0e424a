/** The built-in types that a kind may embed by reference, with their static types. */
import type * as models from '@kubernetes/client-node'
import type { Jsonify } from './builtin.ts'

/**
 * What `Type.Builtin` takes. Types that contain themselves, such as `JSONSchemaProps`, are not among them: they have no end that
 * could be checked.
 */
export interface BuiltinTypes {
  Affinity: Jsonify<models.V1Affinity>
  Capabilities: Jsonify<models.V1Capabilities>
  ConfigMapEnvSource: Jsonify<models.V1ConfigMapEnvSource>
  ConfigMapKeySelector: Jsonify<models.V1ConfigMapKeySelector>
  ConfigMapVolumeSource: Jsonify<models.V1ConfigMapVolumeSource>
  Container: Jsonify<models.V1Container>
  ContainerPort: Jsonify<models.V1ContainerPort>
  CronJobSpec: Jsonify<models.V1CronJobSpec>
  CrossVersionObjectReference: Jsonify<models.V2CrossVersionObjectReference>
  DaemonSetSpec: Jsonify<models.V1DaemonSetSpec>
  DaemonSetUpdateStrategy: Jsonify<models.V1DaemonSetUpdateStrategy>
  DeploymentSpec: Jsonify<models.V1DeploymentSpec>
  DeploymentStrategy: Jsonify<models.V1DeploymentStrategy>
  EmptyDirVolumeSource: Jsonify<models.V1EmptyDirVolumeSource>
  EnvFromSource: Jsonify<models.V1EnvFromSource>
  EnvVar: Jsonify<models.V1EnvVar>
  EnvVarSource: Jsonify<models.V1EnvVarSource>
  ExecAction: Jsonify<models.V1ExecAction>
  HTTPGetAction: Jsonify<models.V1HTTPGetAction>
  HorizontalPodAutoscalerBehavior: Jsonify<models.V2HorizontalPodAutoscalerBehavior>
  HorizontalPodAutoscalerSpec: Jsonify<models.V2HorizontalPodAutoscalerSpec>
  HostAlias: Jsonify<models.V1HostAlias>
  IngressRule: Jsonify<models.V1IngressRule>
  IngressSpec: Jsonify<models.V1IngressSpec>
  IngressTLS: Jsonify<models.V1IngressTLS>
  JobSpec: Jsonify<models.V1JobSpec>
  JobTemplateSpec: Jsonify<models.V1JobTemplateSpec>
  LabelSelector: Jsonify<models.V1LabelSelector>
  Lifecycle: Jsonify<models.V1Lifecycle>
  LifecycleHandler: Jsonify<models.V1LifecycleHandler>
  LocalObjectReference: Jsonify<models.V1LocalObjectReference>
  MetricSpec: Jsonify<models.V2MetricSpec>
  NetworkPolicyEgressRule: Jsonify<models.V1NetworkPolicyEgressRule>
  NetworkPolicyIngressRule: Jsonify<models.V1NetworkPolicyIngressRule>
  NetworkPolicyPeer: Jsonify<models.V1NetworkPolicyPeer>
  NetworkPolicyPort: Jsonify<models.V1NetworkPolicyPort>
  NetworkPolicySpec: Jsonify<models.V1NetworkPolicySpec>
  NodeAffinity: Jsonify<models.V1NodeAffinity>
  NodeSelector: Jsonify<models.V1NodeSelector>
  NodeSelectorTerm: Jsonify<models.V1NodeSelectorTerm>
  ObjectFieldSelector: Jsonify<models.V1ObjectFieldSelector>
  ObjectReference: Jsonify<models.V1ObjectReference>
  PersistentVolumeClaimSpec: Jsonify<models.V1PersistentVolumeClaimSpec>
  PersistentVolumeClaimTemplate: Jsonify<models.V1PersistentVolumeClaimTemplate>
  PersistentVolumeClaimVolumeSource: Jsonify<models.V1PersistentVolumeClaimVolumeSource>
  PodAffinity: Jsonify<models.V1PodAffinity>
  PodAffinityTerm: Jsonify<models.V1PodAffinityTerm>
  PodAntiAffinity: Jsonify<models.V1PodAntiAffinity>
  PodDNSConfig: Jsonify<models.V1PodDNSConfig>
  PodDisruptionBudgetSpec: Jsonify<models.V1PodDisruptionBudgetSpec>
  PodFailurePolicy: Jsonify<models.V1PodFailurePolicy>
  PodSecurityContext: Jsonify<models.V1PodSecurityContext>
  PodSpec: Jsonify<models.V1PodSpec>
  PodTemplateSpec: Jsonify<models.V1PodTemplateSpec>
  PolicyRule: Jsonify<models.V1PolicyRule>
  Probe: Jsonify<models.V1Probe>
  ResourceRequirements: Jsonify<models.V1ResourceRequirements>
  RoleRef: Jsonify<models.V1RoleRef>
  SeccompProfile: Jsonify<models.V1SeccompProfile>
  SecretEnvSource: Jsonify<models.V1SecretEnvSource>
  SecretKeySelector: Jsonify<models.V1SecretKeySelector>
  SecretReference: Jsonify<models.V1SecretReference>
  SecretVolumeSource: Jsonify<models.V1SecretVolumeSource>
  SecurityContext: Jsonify<models.V1SecurityContext>
  ServicePort: Jsonify<models.V1ServicePort>
  ServiceSpec: Jsonify<models.V1ServiceSpec>
  StatefulSetPersistentVolumeClaimRetentionPolicy: Jsonify<models.V1StatefulSetPersistentVolumeClaimRetentionPolicy>
  StatefulSetSpec: Jsonify<models.V1StatefulSetSpec>
  StatefulSetUpdateStrategy: Jsonify<models.V1StatefulSetUpdateStrategy>
  Subject: Jsonify<models.RbacV1Subject>
  Toleration: Jsonify<models.V1Toleration>
  TopologySpreadConstraint: Jsonify<models.V1TopologySpreadConstraint>
  TypedLocalObjectReference: Jsonify<models.V1TypedLocalObjectReference>
  TypedObjectReference: Jsonify<models.V1TypedObjectReference>
  Volume: Jsonify<models.V1Volume>
  VolumeDevice: Jsonify<models.V1VolumeDevice>
  VolumeMount: Jsonify<models.V1VolumeMount>
  VolumeResourceRequirements: Jsonify<models.V1VolumeResourceRequirements>
}

export type BuiltinTypeName = keyof BuiltinTypes

/** JSON does not show it, so that no CRD has it. */
const builtinType = Symbol('builtinType')

/** Notes on a schema that the values of a built-in type stand there. */
export function withBuiltinType<Schema extends object>(schema: Schema, name: BuiltinTypeName): Schema {
  return Object.assign(schema, { [builtinType]: name })
}

/** The built-in type whose values stand where the schema does. */
export function builtinTypeOf(schema: object): BuiltinTypeName | undefined {
  return (schema as { readonly [builtinType]?: BuiltinTypeName })[builtinType]
}
