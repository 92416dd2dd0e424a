/**
 * The names of the objects of an installation. They are derived from the name of the installation, so that several installations can run in
 * the same cluster.
 */
import { ProreusError } from '../api/errors.ts'
import { dns1035Label } from '../api/name-syntax.ts'

/** The names of one installation. */
export interface InstallationNames {
  /**
   * The name of the installation. It is also the name of the Deployment and of the ServiceAccount, and the value of the label
   * `app.kubernetes.io/name`.
   */
  readonly installation: string
  readonly namespace: string
  /** The Service in front of the webhooks. */
  readonly webhookService: string
  /** The Secret with the CA of the webhooks, and the Role and RoleBinding that permit access to this Secret. */
  readonly caSecret: string
  /** The Lease of leader election, and the Role and RoleBinding that permit access to this Lease. */
  readonly leaderLease: string
  readonly mutatingConfiguration: string
  readonly validatingConfiguration: string
  /** The ClusterRole of the process, and the ClusterRoleBinding that grants this ClusterRole. */
  readonly managerRole: string
  /**
   * The field manager of installed objects. It does not own the field `caBundle`. The field manager of the running process owns that field.
   */
  readonly installer: string
  /**
   * The field manager that applies only `spec.conversion` of CRDs, when the webhooks are served. `installer` applies CRDs without
   * `spec.conversion`. If `installer` owned `spec.conversion`, such an apply request would remove the conversion webhook from the CRD. If
   * an object were then written in a version other than the storage version, the object would lose fields.
   */
  readonly conversionInstaller: string
}

/** Returns all names that are derived from the name of an installation. */
export function namesOf(installation: string): InstallationNames {
  return {
    installation,
    namespace: `${installation}-system`,
    webhookService: `${installation}-webhook`,
    caSecret: `${installation}-webhook-ca`,
    leaderLease: `${installation}-leader`,
    mutatingConfiguration: `${installation}-mutating`,
    validatingConfiguration: `${installation}-validating`,
    managerRole: `${installation}-manager`,
    installer: `${installation}-install`,
    conversionInstaller: `${installation}-install-conversion`,
  }
}

/**
 * Returns the labels of objects that belong to one installation. CustomResourceDefinitions do not have these labels, because several
 * installations may share a CustomResourceDefinition.
 */
export function labelsOf(installation: string): Record<string, string> {
  return { 'app.kubernetes.io/name': installation, 'app.kubernetes.io/part-of': installation }
}

const installer = /-install(-conversion)?$/

/** Returns true for the field managers `INSTALLATION-install` and `INSTALLATION-install-conversion`, for any name of an installation. */
export function isInstaller(fieldManager: string): boolean {
  return installer.test(fieldManager)
}

/** Returns `INSTALLATION` for the field managers `INSTALLATION-install` and `INSTALLATION-install-conversion`. */
export function installationOf(fieldManager: string): string {
  return fieldManager.replace(installer, '')
}

/**
 * Maximum length of the name of an installation. The names of its objects consist of this name and a suffix, and have at most 63
 * characters, like a DNS label. The longest suffixes are `-webhook-ca` and `-validating`.
 */
const maxLength = 63 - '-webhook-ca'.length

/**
 * Returns the name of the installation of these operators:
 *
 * - If `given` is not undefined, the name is `given`.
 * - If `given` is undefined and there is exactly one operator, the name is the name of this operator.
 * - If `given` is undefined and there are no operators, the name is `proreus`.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when there are several operators and `given` is undefined, or when the name is invalid.
 */
export function installationName(operators: readonly { readonly name: string }[], given?: string): string {
  const [only, another] = operators
  if (given === undefined && only !== undefined && another !== undefined) {
    const names = operators.map(({ name }) => name).join(', ')
    const advice =
      'set it with --name (`name` in the options of `run`); it is part of the names of its webhook configurations, namespace and Secret'
    throw new ProreusError('PRO_CONFIG_INVALID', `The installation of the operators ${names} has no name: ${advice}.`)
  }
  const name = given ?? only?.name ?? 'proreus'
  const problems = [
    ...dns1035Label(name),
    ...(name.length > maxLength
      ? [`must be no more than ${maxLength} characters, so that names like ${name}-webhook-ca have at most 63`]
      : []),
  ]
  if (problems.length === 0) return name
  const advice = given === undefined ? ': choose another one with --name (`name` in the options of `run`)' : ''
  throw new ProreusError('PRO_CONFIG_INVALID', `"${name}" cannot be the name of an installation: ${problems.join('; ')}${advice}.`)
}
