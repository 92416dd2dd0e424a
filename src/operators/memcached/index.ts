/** The operator that reconciles Memcacheds of two API groups. */
import { defineOperator, defineWebhook, version } from 'proreus'
import { memcachedController } from './controller.ts'
import { defaultImage } from './deployment.ts'
import { memcached, memcachedOfLimingnihao } from './kind.ts'
import { validateMemcached } from './webhook.ts'

/** The image of the Pods. */
const image = process.env['MEMCACHED_IMAGE'] || defaultImage

export const memcachedOperator = defineOperator({
  name: 'memcached',
  version,
  kinds: [memcached, memcachedOfLimingnihao],
  webhooks: [
    defineWebhook(memcached, { validate: validateMemcached }),
    defineWebhook(memcachedOfLimingnihao, { validate: validateMemcached }),
  ],
  controllers: [
    memcachedController({ name: 'memcached', kind: memcached, image }),
    memcachedController({ name: 'memcached-limingnihao', kind: memcachedOfLimingnihao, image }),
  ],
})
