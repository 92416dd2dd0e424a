/** The generated files under `config/`: renders them, finds those that are out of date, and writes them. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ProreusError, messageOf } from '../api/errors.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { installationName, namesOf } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import { convertedDefinitions } from '../manager/operator.ts'
import { checkSharedKinds, kindsOf } from '../manager/shared-kinds.ts'
import { crdOf } from './crd.ts'
import { leaderElectionRole, managerRole, managerRoleBinding, metricsReaderRole, userRoles, webhookCaRole } from './rbac.ts'
import { webhookConfigurations } from './webhook-configuration.ts'
import { manifestText } from './yaml.ts'

/** The folder of the CRD files. The folder contains only generated files, so a YAML file that belongs to no kind is removed. */
const crdFolder = 'crd/bases'

/**
 * Returns the contents of the generated files, keyed by their paths relative to the configuration folder. `name` is the name of the
 * installation.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the installation has no name, or two operators define the same kind differently.
 */
export function generatedFiles(operators: readonly Operator[], name?: string): ReadonlyMap<string, string> {
  checkSharedKinds(operators)
  const names = namesOf(installationName(operators, name))
  const kinds = kindsOf(operators)
  const service = { namespace: names.namespace, name: names.webhookService }
  const converted = new Set(convertedDefinitions(operators))
  const crds = kinds.map((kind) => {
    const crd = converted.has(groupResourceOf(kind)) ? crdOf(kind, { service }) : crdOf(kind)
    return [`${crdFolder}/${kind.group}_${kind.plural}.yaml`, manifestText(crd)] as const
  })
  return new Map([
    ...crds,
    [
      'crd/kustomization.yaml',
      manifestText({
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: crds.map(([path]) => path.replace('crd/', '')),
      }),
    ],
    ['rbac/role.yaml', manifestText(managerRole(operators, names))],
    ['rbac/role_binding.yaml', manifestText(managerRoleBinding(names))],
    ['rbac/leader_election_role.yaml', manifestText(...leaderElectionRole(names))],
    ['rbac/metrics_reader_role.yaml', manifestText(metricsReaderRole(names))],
    ['rbac/user_roles.yaml', manifestText(...userRoles(operators, names.installation))],
    ['rbac/webhook_ca_role.yaml', manifestText(...webhookCaRole(names))],
    ['webhook/manifests.yaml', manifestText(...webhookConfigurations(operators, { service }, names))],
  ])
}

/**
 * Returns the sorted paths of the files that `writeFiles` would write or remove. A file is written if it is missing or its content is not
 * the text in `files`. A CRD file is removed if it belongs to no kind.
 */
export async function staleFiles(directory: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  const stale: string[] = []
  for (const [path, text] of files) {
    const present = await readFile(join(directory, path), 'utf8').catch(() => undefined)
    if (present !== text) stale.push(path)
  }
  const crds = await readdir(join(directory, crdFolder)).catch(() => [])
  const leftOver = crds.map((name) => `${crdFolder}/${name}`).filter((path) => path.endsWith('.yaml') && !files.has(path))
  return [...stale, ...leftOver].sort()
}

/**
 * Writes the files that are missing or different, and removes CRD files that belong to no kind. Returns the paths of all files that were
 * written or removed.
 *
 * @throws {ProreusError} `PRO_PERMISSION` when a file cannot be written.
 */
export async function writeFiles(directory: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  const stale = await staleFiles(directory, files)
  try {
    for (const path of stale) await replaceFile(join(directory, path), files.get(path))
  } catch (cause) {
    const problem = `The files cannot be written to ${directory}: ${messageOf(cause)}. Make the folder writable, or choose another one.`
    throw new ProreusError('PRO_PERMISSION', problem, { cause })
  }
  return stale
}

async function replaceFile(target: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(target)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, text)
}
