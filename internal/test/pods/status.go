package pods

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status returns what the kubelet reports with a version.
func (p pod) status(version int) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        p.conditions(version),
		StartTime:         new(metav1.NewTime(p.created())),
		ContainerStatuses: p.containerStatuses(version),
		QOSClass:          corev1.PodQOSBurstable,
	}
}

// isReady reports whether the Pod is ready with a version.
func isReady(version int) bool { return version%2 == 1 }

func (p pod) conditions(version int) []corev1.PodCondition {
	condition := func(kind corev1.PodConditionType, since time.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)}
	}
	conditions := []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, p.begun()),
		condition(corev1.PodInitialized, p.created()),
		condition(corev1.PodReady, p.reported(version)),
		condition(corev1.ContainersReady, p.reported(version)),
		condition(corev1.PodScheduled, p.created()),
	}
	if !isReady(version) {
		for i := range conditions {
			if c := &conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
				c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: [server]"
			}
		}
	}
	return conditions
}

// containerStatuses returns the statuses of the containers, sorted by name as
// kubelets do. The server of one Pod in eight has been restarted.
func (p pod) containerStatuses(version int) []corev1.ContainerStatus {
	names := p.containers()
	statuses := make([]corev1.ContainerStatus, len(names))
	for i, name := range names {
		status := corev1.ContainerStatus{
			Name:         name,
			State:        corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(p.begun())}},
			Ready:        true,
			Started:      new(true),
			Image:        p.image(name),
			ImageID:      p.imageID(name),
			ContainerID:  p.containerID(i, 0),
			VolumeMounts: mountStatuses(p.mounts(name)),
		}
		if name == server {
			status.Ready = isReady(version)
			if p.random(ofRestarts)%8 == 0 {
				status.RestartCount = 1
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
					ExitCode: 137, Reason: "OOMKilled", ContainerID: p.containerID(i, 1),
					StartedAt: metav1.NewTime(p.created()), FinishedAt: metav1.NewTime(p.begun()),
				}
			}
		}
		statuses[len(names)-1-i] = status
	}
	return statuses
}

// containerID returns the ID of container number i, of the one that runs or of one
// before it.
func (p pod) containerID(i, before int) string {
	return "containerd://" + hash(p.random(ofContainer)+uint64(1000*i+100*before))
}

// mountStatuses returns the statuses of mounts.
func mountStatuses(mounts []corev1.VolumeMount) (statuses []corev1.VolumeMountStatus) {
	for _, m := range mounts {
		statuses = append(statuses, corev1.VolumeMountStatus{
			Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly, RecursiveReadOnly: new(corev1.RecursiveReadOnlyDisabled),
		})
	}
	return statuses
}
