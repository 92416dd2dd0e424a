/** `serviceVariables`: the variables by which a container finds Services (k8s.io/kubernetes/pkg/kubelet/envvars: FromServices). */
import type { ReadonlyService } from '../../controllers/api-types.ts'
import type { EnvironmentSources } from './sources.ts'

/** The Service of the API server. Each container gets the variables of this Service, in every namespace. */
const [masterNamespace, masterName] = ['default', 'kubernetes']

/**
 * Resolves with the variables of the Service of the API server. If `areLinksEnabled` is true, adds the variables of the Services in
 * `namespace` (k8s.io/kubernetes/pkg/kubelet: getServiceEnvVarMap).
 */
export async function serviceVariables(
  sources: Pick<EnvironmentSources, 'services'>,
  namespace: string,
  areLinksEnabled: boolean,
): Promise<ReadonlyMap<string, string>> {
  const services = new Map<string, ReadonlyService>()
  const master = (await sources.services(masterNamespace)).find(({ metadata }) => metadata.name === masterName)
  if (master !== undefined) services.set(masterName, master)
  const linked = areLinksEnabled ? await sources.services(namespace) : []
  for (const service of linked) if (hasAddress(service)) services.set(service.metadata.name, service)
  // Variables of two Services can have the same name. The Services are sorted by name, so the variable of the last Service always takes
  // precedence. The kubelet does not sort the Services, so its result can vary.
  return new Map([...services.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)).flatMap(variablesOf))
}

/**
 * Returns false for a headless Service and for a Service of the type ExternalName (k8s.io/kubernetes/pkg/apis/core/v1/helper:
 * IsServiceIPSet).
 */
function hasAddress({ spec }: ReadonlyService): boolean {
  return spec?.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None'
}

function variablesOf(service: ReadonlyService): readonly (readonly [string, string])[] {
  const { metadata, spec } = service
  const { clusterIP = '', ports = [] } = spec ?? {}
  const [first] = ports
  if (!hasAddress(service) || first === undefined) return []
  const prefix = variableName(metadata.name)
  const address = (port: number): string => `${clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP}:${port}`
  const links = ports.flatMap(({ port, protocol = 'TCP' }): readonly (readonly [string, string])[] => {
    const scheme = protocol.toLowerCase()
    const name = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`
    return [
      [name, `${scheme}://${address(port)}`],
      [`${name}_PROTO`, scheme],
      [`${name}_PORT`, String(port)],
      [`${name}_ADDR`, clusterIP],
    ]
  })
  return [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name, port }) =>
      name === undefined || name === '' ? [] : [[`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)] as const],
    ),
    [`${prefix}_PORT`, `${(first.protocol ?? 'TCP').toLowerCase()}://${address(first.port)}`],
    ...links,
  ]
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase()
}
