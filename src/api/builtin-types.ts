/** The built-in Kubernetes types that the schema of a kind may contain (`Type.Builtin`), and the TypeScript type of each built-in type. */
import type { models } from './kubernetes/models.ts'

/**
 * Maps the name of each type that `Type.Builtin` accepts to its static type. Recursive types, such as `JSONSchemaProps`, are not supported,
 * because expanding the references of a recursive schema would never end.
 */
export interface BuiltinTypes {
  Affinity: models.V1Affinity
  Capabilities: models.V1Capabilities
  ConfigMapEnvSource: models.V1ConfigMapEnvSource
  ConfigMapKeySelector: models.V1ConfigMapKeySelector
  ConfigMapVolumeSource: models.V1ConfigMapVolumeSource
  Container: models.V1Container
  ContainerPort: models.V1ContainerPort
  CronJobSpec: models.V1CronJobSpec
  CrossVersionObjectReference: models.V2CrossVersionObjectReference
  DaemonSetSpec: models.V1DaemonSetSpec
  DaemonSetUpdateStrategy: models.V1DaemonSetUpdateStrategy
  DeploymentSpec: models.V1DeploymentSpec
  DeploymentStrategy: models.V1DeploymentStrategy
  EmptyDirVolumeSource: models.V1EmptyDirVolumeSource
  EnvFromSource: models.V1EnvFromSource
  EnvVar: models.V1EnvVar
  EnvVarSource: models.V1EnvVarSource
  ExecAction: models.V1ExecAction
  HTTPGetAction: models.V1HTTPGetAction
  HorizontalPodAutoscalerBehavior: models.V2HorizontalPodAutoscalerBehavior
  HorizontalPodAutoscalerSpec: models.V2HorizontalPodAutoscalerSpec
  HostAlias: models.V1HostAlias
  IngressRule: models.V1IngressRule
  IngressSpec: models.V1IngressSpec
  IngressTLS: models.V1IngressTLS
  JobSpec: models.V1JobSpec
  JobTemplateSpec: models.V1JobTemplateSpec
  LabelSelector: models.V1LabelSelector
  Lifecycle: models.V1Lifecycle
  LifecycleHandler: models.V1LifecycleHandler
  LocalObjectReference: models.V1LocalObjectReference
  MetricSpec: models.V2MetricSpec
  NetworkPolicyEgressRule: models.V1NetworkPolicyEgressRule
  NetworkPolicyIngressRule: models.V1NetworkPolicyIngressRule
  NetworkPolicyPeer: models.V1NetworkPolicyPeer
  NetworkPolicyPort: models.V1NetworkPolicyPort
  NetworkPolicySpec: models.V1NetworkPolicySpec
  NodeAffinity: models.V1NodeAffinity
  NodeSelector: models.V1NodeSelector
  NodeSelectorTerm: models.V1NodeSelectorTerm
  ObjectFieldSelector: models.V1ObjectFieldSelector
  ObjectReference: models.V1ObjectReference
  PersistentVolumeClaimSpec: models.V1PersistentVolumeClaimSpec
  PersistentVolumeClaimTemplate: models.V1PersistentVolumeClaimTemplate
  PersistentVolumeClaimVolumeSource: models.V1PersistentVolumeClaimVolumeSource
  PodAffinity: models.V1PodAffinity
  PodAffinityTerm: models.V1PodAffinityTerm
  PodAntiAffinity: models.V1PodAntiAffinity
  PodDNSConfig: models.V1PodDNSConfig
  PodDisruptionBudgetSpec: models.V1PodDisruptionBudgetSpec
  PodFailurePolicy: models.V1PodFailurePolicy
  PodSecurityContext: models.V1PodSecurityContext
  PodSpec: models.V1PodSpec
  PodTemplateSpec: models.V1PodTemplateSpec
  PolicyRule: models.V1PolicyRule
  Probe: models.V1Probe
  ResourceRequirements: models.V1ResourceRequirements
  RoleRef: models.V1RoleRef
  SeccompProfile: models.V1SeccompProfile
  SecretEnvSource: models.V1SecretEnvSource
  SecretKeySelector: models.V1SecretKeySelector
  SecretReference: models.V1SecretReference
  SecretVolumeSource: models.V1SecretVolumeSource
  SecurityContext: models.V1SecurityContext
  ServicePort: models.V1ServicePort
  ServiceSpec: models.V1ServiceSpec
  StatefulSetPersistentVolumeClaimRetentionPolicy: models.V1StatefulSetPersistentVolumeClaimRetentionPolicy
  StatefulSetSpec: models.V1StatefulSetSpec
  StatefulSetUpdateStrategy: models.V1StatefulSetUpdateStrategy
  Subject: models.RbacV1Subject
  Toleration: models.V1Toleration
  TopologySpreadConstraint: models.V1TopologySpreadConstraint
  TypedLocalObjectReference: models.V1TypedLocalObjectReference
  TypedObjectReference: models.V1TypedObjectReference
  Volume: models.V1Volume
  VolumeDevice: models.V1VolumeDevice
  VolumeMount: models.V1VolumeMount
  VolumeResourceRequirements: models.V1VolumeResourceRequirements
}

export type BuiltinTypeName = keyof BuiltinTypes

/**
 * The key under which a schema stores the name of its built-in type. The key is a symbol, and JSON has no symbols, so a CRD never contains
 * the name.
 */
const builtinType = Symbol('builtinType')

/** Marks a schema as the schema of a built-in type. */
export function withBuiltinType<Schema extends object>(schema: Schema, name: BuiltinTypeName): Schema {
  return Object.assign(schema, { [builtinType]: name })
}

/** Returns the name of the built-in type with which a schema is marked; undefined when it is not marked. */
export function builtinTypeOf(schema: object): BuiltinTypeName | undefined {
  return (schema as { readonly [builtinType]?: BuiltinTypeName })[builtinType]
}
