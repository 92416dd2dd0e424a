/** The names by which the manifests, the command line and a running process know the same objects. */

/** The namespace that the process is installed in. */
export const operatorNamespace = 'proreus-system'

/** The Service in front of the webhooks. */
export const webhookServiceName = 'proreus-webhook'

/** The Secret with the certificate authority of the webhooks. */
export const caSecretName = 'proreus-webhook-ca'

/** The MutatingWebhookConfiguration. */
export const mutatingName = 'proreus-mutating'

/** The ValidatingWebhookConfiguration. */
export const validatingName = 'proreus-validating'
