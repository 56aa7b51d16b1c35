/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_test.c: the names of the metrics of devices, as users' dashboards have them: a
 * change here is a change for users.
 */
#include "railheadd/metrics/device.h"

#include "lib/testing/testing.h"

static const char sample_text[] =
	"{\"attachments\":["
	"{\"plugin\":\"rdma\",\"network\":\"r\",\"container\":\"c1\",\"interface\":\"net1\","
	"\"namespace\":\"ns\",\"pod\":\"p1\",\"chained\":true},"
	"{\"plugin\":\"sriov\",\"network\":\"r\",\"container\":\"c1\",\"interface\":\"net1\","
	"\"namespace\":\"ns\",\"pod\":\"p1\",\"chained\":false,\"device\":\"mlx5_2\",\"port\":1,"
	"\"own\":true},"
	"{\"plugin\":\"macvlan\",\"network\":\"m\",\"container\":\"c2\",\"interface\":\"net1\","
	"\"namespace\":\"ns\",\"pod\":\"p2\",\"chained\":false,\"device\":\"mlx5_0\",\"port\":1,"
	"\"own\":false},"
	"{\"plugin\":\"macvlan\",\"network\":\"m\",\"container\":\"c3\",\"interface\":\"net1\","
	"\"namespace\":\"\",\"pod\":\"\",\"chained\":false}],"
	"\"ports\":["
	"{\"device\":\"mlx5_2\",\"port\":1,\"namespace\":\"ns\",\"pod\":\"p1\","
	"\"trouble\":{\"retry\":1,\"sequence\":2,\"cnpSent\":3,\"cnpReceived\":4,\"linkDown\":5},"
	"\"counters\":{\"port_xmit_data\":6},\"hw_counters\":{\"out_of_sequence\":2}},"
	"{\"device\":\"mlx5_0\",\"port\":1,\"namespace\":\"\",\"pod\":\"\","
	"\"trouble\":{\"retry\":7},\"counters\":{},\"hw_counters\":{}}],"
	"\"interfaces\":[{\"interface\":\"ens1\",\"carrierDown\":2,\"pfcSent\":{\"3\":8},"
	"\"pfcReceived\":{\"3\":9},\"driver\":{\"rx_prio3_pause\":9}},"
	"{\"interface\":\"ens2\",\"carrierDown\":0}],"
	"\"cards\":[{\"pf\":\"0000:3b:00.0\",\"interface\":\"ens1\",\"vfs\":8,\"most\":16,"
	"\"used\":1}],\"leftOut\":0}";

#define HEAD(name, type, help) "# HELP " name " " help "\n# TYPE " name " " type "\n"
#define P2                     "device=\"mlx5_2\",port=\"1\",namespace=\"ns\",pod=\"p1\""
#define P0                     "device=\"mlx5_0\",port=\"1\",namespace=\"\",pod=\"\""

static const char open_text[] = HEAD(
	"railhead_attachments",
	"gauge", "Attachments on record, by the plugin that made them.") "railhead_attachments{"
									 "plugin=\"rdma\"} 1\n"
									 "railhead_attachments{"
									 "plugin=\"sriov\"} 1\n"
									 "railhead_attachments{"
									 "plugin=\"macvlan\"} "
									 "2\n" HEAD(
										 "railhead_"
										 "attachment_info",
										 "gauge",
										 "1 for each "
										 "attached "
										 "interface, with "
										 "its pod and the "
										 "RDMA port below "
										 "it. "
										 "shared=\"true\": "
										 "other pods and "
										 "the host may use "
										 "that port, too.") "railhead_attachment_info{network=\"r\",container=\"c1\",interface=\"net1\","
												    "namespace=\"ns\",pod=\"p1\",plugin=\"sriov\",device=\"mlx5_2\",port=\"1\","
												    "shared=\"false\"} 1\n"
												    "railhead_attachment_info{network=\"m\",container=\"c2\",interface=\"net1\","
												    "namespace=\"ns\",pod=\"p2\",plugin=\"macvlan\",device=\"mlx5_0\",port=\"1\","
												    "shared=\"true\"} 1\n"
												    "railhead_attachment_info{network=\"m\",container=\"c3\",interface=\"net1\","
												    "namespace=\"\",pod=\"\",plugin=\"macvlan\"} 1\n" HEAD(
													    "railhead_rdma_retries",
													    "counter",
													    "Packets that the RDMA port sent again; namespace and pod only if one pod alone has "
													    "the port.") "railhead_rdma_retries_total{" P2
															 "} 1\n"
															 "railhead_rdma_retries_total{" P0 "} 7\n" HEAD("railhead_rdma_out_of_sequence", "counter", "Packets that the RDMA port received out of order.") "railhead_rdma_out_of_sequence_total{" P2 "} 2\n" HEAD("railhead_rdma_cnp_sent",
																																								"counter",
																																								"Congestion notifications that the RDMA port sent, because packets came with an ECN "
																																								"mark.") "railhead_rdma_cnp_sent_total{" P2
																																									 "} 3\n" HEAD("railhead_rdma_cnp_received", "counter", "Congestion notifications that the RDMA port received: it must slow down.") "railhead_rdma_cnp_received_total{" P2 "} 4\n" HEAD("railhead_rdma_link_down",
																																																															       "counter", "How often the RDMA port lost its link.") "railhead_rdma_link_down_total{" P2 "} 5\n" HEAD("railhead_rdma_port_counter", "unknown",
																																																																												     "A counter of the RDMA port, under the kernel's name (sysfs, counters).") "railhead_rdma_port_counter{" P2
																																																																																					       ",counter=\"port_xmit_data\"} 6\n" HEAD(
																																																																																						       "railhead_rdma_hw_counter",
																																																																																						       "unknown",
																																																																																						       "A counter of the RDMA port, under the driver's name (sysfs, hw_counters).") "railhead_rdma_hw_counter{" P2 ",counter=\"out_of_sequence\"} 2\n" HEAD("railhead_interface_carrier_down",
																																																																																																									    "counter", "How often the interface of the host lost its link.") "railhead_interface_carrier_down_total{interface=\"ens1\"} 2\n"
																																																																																																																	     "railhead_interface_carrier_down_total{interface=\"ens2\"} 0\n" HEAD(
																																																																																																																		     "railhead_interface_pfc_sent", "counter", "Pause frames of priority flow control that the interface of the host sent.") "railhead_interface_pfc_sent_total{interface=\"ens1\",priority=\"3\"} 8\n" HEAD("railhead_interface_pfc_received",
																																																																																																																																											     "counter",
																																																																																																																																											     "Pause frames of priority flow control that the interface of the host received.") "railhead_interface_pfc_received_total{interface=\"ens1\",priority=\"3\"} 9\n" HEAD("railhead_interface_driver_counter", "unknown",
																																																																																																																																																																   "A counter of the driver about pauses or congestion, under its own name.") "railhead_interface_driver_counter{interface=\"ens1\",counter=\"rx_prio3_pause\"} 9\n" HEAD("railhead_vfs", "gauge", "VFs of the card.") "railhead_vfs{interface=\"ens1\",pf=\"0000:3b:00.0\"} 8\n" HEAD("railhead_vfs_most",
																																																																																																																																																																																																		       "gauge",
																																																																																																																																																																																																		       "How many VFs the card can have.") "railhead_vfs_most{interface=\"ens1\",pf=\"0000:3b:00.0\"} 16\n" HEAD("railhead_vfs_used",
																																																																																																																																																																																																																"gauge",
																																																																																																																																																																																																																"VFs of the card that attachments have.") "railhead_vfs_used{interface=\"ens1\",pf=\"0000:3b:00.0\"} 1\n" HEAD("railhead_devices_left_out",
																																																																																																																																																																																																																													       "gauge",
																																																																																																																																																																																																																													       "Attachments, ports and counters beyond the limits of a scrape.") "railhead_devices_left_out 0\n";

static char *text_of(const char *sample, bool open)
{
	auto_json struct json *tree = NULL;
	struct exposition x = { .open = open };
	struct err e;

	ck_assert_msg(json_parse(sample, strlen(sample), "test", &tree, &e) == 0, "%s", e.msg);
	device_metrics_add(&x, tree);
	return text_take(&x.text);
}

START_TEST(the_names_are_fixed)
{
	auto_free char *text = text_of(sample_text, true);

	for (size_t i = 0; i <= strlen(open_text); i++)
		ck_assert_msg(text[i] == open_text[i], "there is \"%.60s\", not \"%.60s\"",
			      text + i, open_text + i);
}
END_TEST

START_TEST(a_host_without_devices)
{
	auto_free char *text = text_of("{}", false);

	ck_assert_ptr_null(strchr(text, '{'));
	ck_assert_ptr_nonnull(strstr(text, "# TYPE railhead_rdma_hw_counter untyped\n"));
	ck_assert_ptr_nonnull(strstr(text, "# TYPE railhead_rdma_retries_total counter\n"));
}
END_TEST

TEST_PROGRAM("railheadd/metrics/device", the_names_are_fixed, a_host_without_devices)
