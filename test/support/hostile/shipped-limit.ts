/** The memory limit of the container in `config/manager/deployment.yaml`, in bytes. */
export const shippedLimitBytes = 512 * 2 ** 20
