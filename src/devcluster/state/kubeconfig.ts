/** The kubeconfig for the embedded API server. */
import { stringify } from 'yaml'
import { writeStateFile } from './state-file.ts'

export interface KubeconfigFields {
  readonly server: string
  /** The CA certificate as PEM. */
  readonly ca: string
  readonly userName: string
  readonly token: string
  readonly namespace?: string
}

const clusterName = 'proreus'

export function kubeconfigYaml({ server, ca, userName, token, namespace }: KubeconfigFields): string {
  const user = `${clusterName}-${userName}`
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: clusterName, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: clusterName, context: { cluster: clusterName, user, ...(namespace === undefined ? {} : { namespace }) } }],
      'current-context': clusterName,
    },
    // With this option, long lines are not folded. A folded certificate would be damaged when it is copied by hand.
    { lineWidth: 0 },
  )
}

/**
 * Writes the kubeconfig atomically, readable only by its owner. The file is written when the cluster is ready. Scripts can therefore wait
 * until the file exists.
 */
export async function writeKubeconfig(path: string, fields: KubeconfigFields): Promise<void> {
  await writeStateFile(path, kubeconfigYaml(fields))
}
