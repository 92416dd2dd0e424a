/**
 * Writes `src/builtin-schemas/types.json`: the fields of the Kubernetes types that `Type.Builtin` can embed in a kind, and of all types to
 * which these fields refer. The script reads the OpenAPI documents of a real API server.
 *
 * With `--check`, the script writes nothing, and exits with 1 when the file is out of date. The check is skipped when the binary
 * `kube-apiserver` is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuiltinTypeName } from '../src/api/builtin-types.ts'
import { findProgram, kubernetesReleases } from '../src/testing/binaries.ts'
import { startControlPlane } from '../src/testing/control-plane.ts'

const target = join(import.meta.dirname, '../src/builtin-schemas/types.json')

/** The types that a kind can embed, keyed by Go package. The script also writes the types to which the fields of these types refer. */
const homes: Readonly<Record<string, readonly BuiltinTypeName[]>> = {
  'api.apps.v1': [
    'DaemonSetSpec',
    'DaemonSetUpdateStrategy',
    'DeploymentSpec',
    'DeploymentStrategy',
    'StatefulSetPersistentVolumeClaimRetentionPolicy',
    'StatefulSetSpec',
    'StatefulSetUpdateStrategy',
  ],
  'api.autoscaling.v2': ['CrossVersionObjectReference', 'HorizontalPodAutoscalerBehavior', 'HorizontalPodAutoscalerSpec', 'MetricSpec'],
  'api.batch.v1': ['CronJobSpec', 'JobSpec', 'JobTemplateSpec', 'PodFailurePolicy'],
  'api.core.v1': [
    'Affinity',
    'Capabilities',
    'ConfigMapEnvSource',
    'ConfigMapKeySelector',
    'ConfigMapVolumeSource',
    'Container',
    'ContainerPort',
    'EmptyDirVolumeSource',
    'EnvFromSource',
    'EnvVar',
    'EnvVarSource',
    'ExecAction',
    'HTTPGetAction',
    'HostAlias',
    'Lifecycle',
    'LifecycleHandler',
    'LocalObjectReference',
    'NodeAffinity',
    'NodeSelector',
    'NodeSelectorTerm',
    'ObjectFieldSelector',
    'ObjectReference',
    'PersistentVolumeClaimSpec',
    'PersistentVolumeClaimTemplate',
    'PersistentVolumeClaimVolumeSource',
    'PodAffinity',
    'PodAffinityTerm',
    'PodAntiAffinity',
    'PodDNSConfig',
    'PodSecurityContext',
    'PodSpec',
    'PodTemplateSpec',
    'Probe',
    'ResourceRequirements',
    'SeccompProfile',
    'SecretEnvSource',
    'SecretKeySelector',
    'SecretReference',
    'SecretVolumeSource',
    'SecurityContext',
    'ServicePort',
    'ServiceSpec',
    'Toleration',
    'TopologySpreadConstraint',
    'TypedLocalObjectReference',
    'TypedObjectReference',
    'Volume',
    'VolumeDevice',
    'VolumeMount',
    'VolumeResourceRequirements',
  ],
  'api.networking.v1': [
    'IngressRule',
    'IngressSpec',
    'IngressTLS',
    'NetworkPolicyEgressRule',
    'NetworkPolicyIngressRule',
    'NetworkPolicyPeer',
    'NetworkPolicyPort',
    'NetworkPolicySpec',
  ],
  'api.policy.v1': ['PodDisruptionBudgetSpec'],
  'api.rbac.v1': ['PolicyRule', 'RoleRef', 'Subject'],
  'apimachinery.pkg.apis.meta.v1': ['LabelSelector'],
}

/** The OpenAPI documents that contain the types in `homes`. */
const documents = [
  'api/v1',
  'apis/apps/v1',
  'apis/autoscaling/v2',
  'apis/batch/v1',
  'apis/networking.k8s.io/v1',
  'apis/policy/v1',
  'apis/rbac.authorization.k8s.io/v1',
]

/** Types whose JSON form is not an object with fields. Each value is the word that types.json contains instead of the type's name. */
const words: Readonly<Record<string, string>> = {
  'apimachinery.pkg.api.resource.Quantity': 'quantity',
  'apimachinery.pkg.apis.meta.v1.FieldsV1': 'object',
  'apimachinery.pkg.apis.meta.v1.MicroTime': 'time',
  'apimachinery.pkg.apis.meta.v1.Time': 'time',
  'apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
}

/**
 * Fields that are required according to the OpenAPI documents, although the API server accepts objects without these fields. If such a
 * field is absent, the API server uses the zero value of the field's Go type, and this value is valid.
 */
const optional: ReadonlySet<string> = new Set([
  'HTTPHeader.value',
  'ISCSIVolumeSource.lun',
  'PodFailurePolicy.rules',
  'PreferredSchedulingTerm.preference',
  'ScaleIOVolumeSource.secretRef',
  'SleepAction.seconds',
  'Sysctl.value',
])

/**
 * The order of enum values in the API server's error messages. The map contains only fields for which this order differs from the sorted
 * order in the OpenAPI documents.
 */
const orders: Readonly<Record<string, string>> = {
  'Container.terminationMessagePolicy': '=File|FallbackToLogsOnError',
  'EphemeralContainer.terminationMessagePolicy': '=File|FallbackToLogsOnError',
  'JobSpec.completionMode': '=NonIndexed|Indexed',
  'NetworkPolicyPort.protocol': '=TCP|UDP|SCTP',
  'NetworkPolicySpec.policyTypes': '[=Ingress|Egress]',
  'PodSpec.dnsPolicy': '=ClusterFirstWithHostNet|ClusterFirst|Default|None',
  'PodSpec.restartPolicy': '=Always|OnFailure|Never',
  'ServiceSpec.ipFamilies': '[=IPv4|IPv6]',
  'Toleration.effect': '=NoSchedule|PreferNoSchedule|NoExecute',
}

/** The keywords of OpenAPI schemas that occur in the API server's documents. */
interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

/** The prefix of type names in the OpenAPI documents. The script removes the prefix: `io.k8s.api.core.v1.Pod` becomes `api.core.v1.Pod`. */
const prefix = 'io.k8s.'

function generate(schemas: ReadonlyMap<string, Schema>, version: string): string {
  const types = new Map<string, { readonly full: string; readonly fields: Readonly<Record<string, string>> }>()

  const refer = (full: string): string => {
    const word = words[full]
    if (word !== undefined) return word
    const name = full.slice(full.lastIndexOf('.') + 1)
    const known = types.get(name)
    if (known !== undefined) {
      if (known.full !== full) throw new Error(`${known.full} and ${full} have the same name`)
      return name
    }
    const schema = schemas.get(full)
    if (schema?.type !== 'object' || schema.properties === undefined) throw new Error(`${full} is no type with fields`)
    const fields: Record<string, string> = {}
    types.set(name, { full, fields })
    for (const [field, value] of Object.entries(schema.properties)) {
      const required = schema.required?.includes(field) === true && !optional.has(`${name}.${field}`)
      const text = describe(value, `${full}.${field}`)
      fields[`${field}${required ? '!' : ''}`] = inOrder(text, orders[`${name}.${field}`])
    }
    return name
  }

  const describe = (schema: Schema, where: string): string => {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref
    if (reference !== undefined) return refer(reference.slice(reference.lastIndexOf('/') + 1 + prefix.length))
    if (schema.items !== undefined) {
      const keys = schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined
      return `[${describe(schema.items, where)}]${keys === undefined ? '' : ` by ${keys.join(',')}`}`
    }
    if (schema.additionalProperties !== undefined) return `{${describe(schema.additionalProperties, where)}}`
    if (schema.enum !== undefined) return `=${schema.enum.join('|')}`
    switch (`${schema.type ?? ''} ${schema.format ?? ''}`.trim()) {
      case 'string':
      case 'boolean':
      case 'object':
        return schema.type!
      case 'string byte':
        return 'bytes'
      case 'integer int32':
      case 'integer int64':
        return schema.format!
      default:
        throw new Error(`what is ${where}: ${JSON.stringify(schema)}`)
    }
  }

  for (const [home, names] of Object.entries(homes)) for (const name of names) refer(`${home}.${name}`)
  const lines = [...types]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { fields }]) => `${JSON.stringify(name)}: ${objectText(fields)}`)
  const about = `The fields of Kubernetes' own types that a kind can embed. Written by scripts/builtin-schemas.ts from the OpenAPI documents of kube-apiserver ${version}; src/builtin-schemas/types.ts says how to read it.`
  return `{\n  "about": ${JSON.stringify(about)},\n  "types": {\n    ${lines.join(',\n    ')}\n  }\n}\n`
}

/**
 * Returns the text that describes the type of a field. If the type contains enum values, the values are in the order of the API server's
 * error messages. Throws when `order` and `text` contain different values.
 *
 * @param text the text with the values in the order of the OpenAPI document, e.g. `=SCTP|TCP|UDP`.
 * @param order the text with the values in the order of the error messages, e.g. `=TCP|UDP|SCTP`. Default: `text`.
 */
function inOrder(text: string, order: string = text): string {
  const sorted = (list: string): string => (list.match(/[\w+-]+/g) ?? []).sort().join()
  if (sorted(order) !== sorted(text)) throw new Error(`${text} are not the texts of ${order}`)
  return order
}

function objectText(fields: Readonly<Record<string, string>>): string {
  const texts = Object.entries(fields).map(([name, type]) => `${JSON.stringify(name)}: ${JSON.stringify(type)}`)
  return `{\n      ${texts.join(',\n      ')}\n    }`
}

async function readDocuments(): Promise<ReadonlyMap<string, Schema>> {
  const controlPlane = await startControlPlane({
    backend: 'binaries',
    controllers: false,
    env: { ...process.env, ENVTEST_K8S_VERSION: '' },
  })
  try {
    const schemas = new Map<string, Schema>()
    for (const path of documents) {
      const document = await controlPlane.client.raw(`/openapi/v3/${path}`)
      const { components } = (typeof document === 'string' ? JSON.parse(document) : document) as {
        components: { schemas: Readonly<Record<string, Schema>> }
      }
      for (const [name, schema] of Object.entries(components.schemas))
        if (name.startsWith(prefix)) schemas.set(name.slice(prefix.length), schema)
    }
    return schemas
  } finally {
    await controlPlane.stop()
  }
}

const check = process.argv.includes('--check')
if ((await findProgram('kube-apiserver', process.env)) === undefined) {
  process.stdout.write(
    check ? 'not compared: there is no kube-apiserver here\n' : 'there is no kube-apiserver here: "npm run test:real" builds it\n',
  )
  process.exitCode = check ? 0 : 1
} else {
  const text = generate(await readDocuments(), Object.values(kubernetesReleases)[0]!)
  if (!check) {
    writeFileSync(target, text)
  } else if (readFileSync(target, 'utf8') !== text) {
    process.stdout.write('not up to date: src/builtin-schemas/types.json; run "npm run builtin-schemas"\n')
    process.exitCode = 1
  }
}
