/** `containerEnvironment`: the environment variables of a container (k8s.io/kubernetes/pkg/kubelet: makeEnvironmentVariables). */
import { quote } from '../../../api/field-error.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import { ContainerConfigError } from './container-config-error.ts'
import { argumentTooLong, expand, mappingOf, maxTotalBytes } from './expansion.ts'
import { podFieldVariable } from './pod-field.ts'
import { resourceVariable } from './resource-field.ts'
import { serviceVariables } from './service-variables.ts'
import type { EnvironmentSources, PodPlace, ReadonlyConfigMap, ReadonlyContainer, ReadonlySecret } from './sources.ts'
import { entryOf, placeOf } from './sources.ts'

type EnvFrom = NonNullable<ReadonlyContainer['envFrom']>[number]
type ValueFrom = NonNullable<NonNullable<ReadonlyContainer['env']>[number]['valueFrom']>
interface Selector {
  readonly name?: string
  readonly key: string
  readonly optional?: boolean
}

/**
 * Resolves with the environment variables of a container, keyed by name. The variables come from `env`, `envFrom` and the Services. Values
 * are text, so invalid UTF-8 in the data of a Secret is replaced by U+FFFD.
 *
 * @param place the values for `fieldRef` and `resourceFieldRef`: the IP addresses of the Pod and of the node, and the allocatable resources
 *   of the node. Default: the addresses in the status of the Pod, and no allocatable resources.
 * @throws {ContainerConfigError} when a value is missing or invalid. The message is that of the kubelet, e.g. `configmap "x" not found`.
 */
export async function containerEnvironment(
  pod: ReadonlyPod,
  container: ReadonlyContainer,
  sources: EnvironmentSources,
  place: PodPlace = placeOf(pod),
): Promise<ReadonlyMap<string, string>> {
  try {
    const objects = new ObjectReader(pod.metadata.namespace, sources)
    const services = await serviceVariables(sources, pod.metadata.namespace, pod.spec?.enableServiceLinks ?? true)
    const variables = new Variables()
    for (const from of container.envFrom ?? []) await addAll(variables, from, objects)
    const mapping = mappingOf(variables.values, services)
    for (const { name, value = '', valueFrom } of container.env ?? []) {
      if (value !== '') variables.set(name, expand(value, mapping))
      else if (valueFrom === undefined) variables.set(name, '')
      else {
        const selected = await selectedValue(pod, container, valueFrom, { objects, place })
        if (selected !== undefined) variables.set(name, selected)
      }
    }
    return new Map([...services, ...variables.values])
  } catch (error) {
    if (error instanceof ContainerConfigError) throw error
    throw new ContainerConfigError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/**
 * The variables that have been set so far. The total length of all names and values is limited, including values that were replaced later.
 * Without this limit, a small Pod could refer to a large Secret or to a long variable thousands of times.
 */
class Variables {
  readonly values = new Map<string, string>()
  #length = 0

  set(name: string, value: string): void {
    this.#length += name.length + value.length
    if (this.#length > maxTotalBytes) throw argumentTooLong()
    this.values.set(name, value)
  }
}

/** Reads each ConfigMap and Secret once. */
class ObjectReader {
  readonly namespace: string
  readonly #sources: EnvironmentSources
  readonly #configMaps = new Map<string, Promise<ReadonlyConfigMap | undefined>>()
  readonly #secrets = new Map<string, Promise<ReadonlySecret | undefined>>()

  constructor(namespace: string, sources: EnvironmentSources) {
    this.namespace = namespace
    this.#sources = sources
  }

  /** Resolves with the data of a ConfigMap, or with undefined if the ConfigMap is optional and does not exist. */
  async configMap({ name = '', optional }: { readonly name?: string; readonly optional?: boolean }): Promise<DataOf | undefined> {
    const found = await once(this.#configMaps, name, () => this.#sources.configMap(this.namespace, name))
    if (found === undefined && optional !== true) throw new ContainerConfigError(`configmap ${quote(name)} not found`)
    return found === undefined ? undefined : { data: found.data, decode: (text) => text }
  }

  /** Resolves with the data of a Secret, or with undefined if the Secret is optional and does not exist. */
  async secret({ name = '', optional }: { readonly name?: string; readonly optional?: boolean }): Promise<DataOf | undefined> {
    const found = await once(this.#secrets, name, () => this.#sources.secret(this.namespace, name))
    if (found === undefined && optional !== true) throw new ContainerConfigError(`secret ${quote(name)} not found`)
    return found === undefined ? undefined : { data: found.data, decode: (text) => Buffer.from(text, 'base64').toString() }
  }
}

interface DataOf {
  readonly data: Readonly<Record<string, string>> | undefined
  decode(text: string): string
}

function once<T>(read: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  let result = read.get(key)
  if (result === undefined) {
    result = start()
    read.set(key, result)
  }
  return result
}

async function addAll(variables: Variables, { prefix = '', configMapRef, secretRef }: EnvFrom, objects: ObjectReader): Promise<void> {
  let found: DataOf | undefined
  if (configMapRef !== undefined) found = await objects.configMap(configMapRef)
  else if (secretRef !== undefined) found = await objects.secret(secretRef)
  if (found === undefined) return
  for (const [key, value] of Object.entries(found.data ?? {})) variables.set(prefix + key, found.decode(value))
}

/** Resolves with the value of a variable that has a `valueFrom`, or with undefined if the container does not get the variable. */
async function selectedValue(
  pod: ReadonlyPod,
  container: ReadonlyContainer,
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: ValueFrom,
  { objects, place }: { readonly objects: ObjectReader; readonly place: PodPlace },
): Promise<string | undefined> {
  if (fieldRef !== undefined) return podFieldVariable(pod, fieldRef, place)
  if (resourceFieldRef !== undefined) return resourceVariable(pod, container, resourceFieldRef, place.allocatable)
  if (configMapKeyRef !== undefined)
    return keyOf(await objects.configMap(configMapKeyRef), configMapKeyRef, `ConfigMap ${objects.namespace}`)
  if (secretKeyRef !== undefined) return keyOf(await objects.secret(secretKeyRef), secretKeyRef, `Secret ${objects.namespace}`)
  if (fileKeyRef !== undefined) {
    throw new ContainerConfigError(
      `fileKeyRef to the volume ${quote(fileKeyRef.volumeName)} is not supported for Pods that run as processes. Use configMapKeyRef or secretKeyRef.`,
    )
  }
  return ''
}

function keyOf(found: DataOf | undefined, { name = '', key, optional }: Selector, kindAndNamespace: string): string | undefined {
  if (found === undefined) return undefined
  const value = entryOf(found.data, key)
  if (value !== undefined) return found.decode(value)
  if (optional === true) return undefined
  throw new ContainerConfigError(`couldn't find key ${key} in ${kindAndNamespace}/${name}`)
}
