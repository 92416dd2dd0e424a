import t from 'tap'
import { secrecyOf } from '../../src/telemetry/secret-keys.ts'

const cases: Readonly<Record<string, string>> = {
  secret:
    'password passwd passphrase pwd token secret credential authorization cookie apiKey private_key secret.key access-key signingKey encryptionKey clientKey tls.key ' +
    'keyData id_rsa DB_PASSWORD X-Api-Key client_secret PGPASSWORD userPwd Set-Cookie tokenSecret.value apikey DB_PASS dbPass pass PASS Pass my-pass webhookToken',
  'secret unless a number': 'tokens cookies passwords credentials apiKeys accessTokens',
  open:
    'tokenReviews secretName password-policy bypass compass BYPASS passing public-key key keys data name keyUsage secrets secretsTotal tokenizer authorizationMode ' +
    'pullSecret existingSecret tlsSecret caSecret certificateSecret imagePullSecret certificate-secret cookieCount my-id secret-ref accessKeyId',
}

for (const [secrecy, names] of Object.entries(cases))
  t.test(`names that are ${secrecy}`, (t) => {
    for (const name of names.split(' ')) t.equal(secrecyOf(name), secrecy, name)
    t.end()
  })
